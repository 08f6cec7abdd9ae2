/** The routes of a project on a real store, asked as people with a role would, and told as the audit log would be. */

import { afterAll, beforeAll } from 'vitest';
import { KeyedMutex } from '#src/commands/command.ts';
import { Idempotency } from '#src/commands/idempotency.ts';
import type { AuditedAction } from '#src/control/audit.ts';
import { dataRoutes } from '#src/control/data/routes.ts';
import { Authorizer } from '#src/control/http/authorize.ts';
import { describeError } from '#src/control/http/errors.ts';
import type { Caller, JsonBody } from '#src/control/http/route.ts';
import type { DueDelivery } from '#src/domain/due-delivery.ts';
import type { IdMint } from '#src/domain/id.ts';
import { instant } from '#src/domain/instant.ts';
import { CURRENT_VERSION } from '#src/domain/project.ts';
import type { Role } from '#src/domain/role.ts';
import type { Project } from '#src/ports/control-store.ts';
import { Builders } from '#src/store/contract/builders.ts';
import { systemTimers } from '#src/system/timers.ts';
import { type ControlHarness, openControlHarness, SILENT, START } from '#test/process/control-harness.ts';

export interface Told {
  readonly status: number;
  // biome-ignore lint/suspicious/noExplicitAny: what is in it is what the tests are about.
  readonly body: any;
}

export interface DataBench {
  readonly harness: ControlHarness;
  readonly project: Project;
  readonly build: Builders;
  readonly desk: Authorizer;
  readonly audit: readonly AuditedAction[];
  readonly hinted: readonly (DueDelivery | null)[];
  readonly wakes: readonly true[];
  caller(role: Role): Caller;
  get(path: string, role?: Role): Promise<Told>;
  post(path: string, body?: JsonBody, role?: Role): Promise<Told>;
  patch(path: string, body: JsonBody, role?: Role): Promise<Told>;
}

export function callerOf(ids: IdMint, role: Role, given: Partial<Caller['user']> = {}): Caller {
  const id = ids.mint('usr', START);
  return {
    user: {
      id,
      name: role,
      role,
      projects: null,
      passwordHash: '',
      createdAt: START,
      passwordChangedAt: START,
      revision: 1,
      ...given,
    },
    session: {
      hash: `hash-of-${id}`,
      userId: id,
      createdAt: START,
      seenAt: START,
      expiresAt: instant(START + 1_000_000),
      address: '127.0.0.1',
      agent: 'test',
    },
    address: '127.0.0.1',
    peer: '127.0.0.1',
  };
}

/** One store for the tests of a file, each with a project of its own. To be called at the top of the file. */
export function useDataBench(): () => Promise<DataBench> {
  let harness: ControlHarness | null = null;
  let projects = 0;
  beforeAll(async () => {
    harness = await openControlHarness();
  });
  afterAll(() => harness?.[Symbol.asyncDispose]());
  return () => {
    if (harness === null) throw new Error('The store is not open.');
    projects += 1;
    return openDataBench(harness, `shop-${projects}`);
  };
}

/** Asks of one project in test mode, as an operator unless another role is named. */
async function openDataBench(harness: ControlHarness, name: string): Promise<DataBench> {
  const { store, clock, ids, vault } = harness;
  const project = await store.addProject({
    id: ids.mint('prj', START),
    name,
    pinnedVersion: CURRENT_VERSION,
    createdAt: START,
  });
  if (project === 'taken') throw new Error('Names of projects must differ.');
  const audit: AuditedAction[] = [];
  const hinted: (DueDelivery | null)[] = [];
  const wakes: true[] = [];
  const hints = { due: (due: DueDelivery | null) => void hinted.push(due), rescan: () => {} };
  const commands = { store, clock, ids, vault, hints, mutex: new KeyedMutex(), pause: async () => {} };
  const desk = new Authorizer({
    store,
    pause: async () => {},
    onRefused: async () => {},
    routes: [],
    projectRoutes: dataRoutes({
      commands,
      idempotency: new Idempotency(store, clock),
      insight: store.insight,
      jobs: store.jobs,
      timers: systemTimers,
      httpAllowed: false,
      node: 'node-1',
      isCluster: false,
      wakeReplays: () => void wakes.push(true),
    }),
    auditor: async (act, carryOut) => {
      const answer = await carryOut();
      audit.push({ ...act, subject: answer.subject ?? act.subject });
      return answer;
    },
  });
  const ask = async (method: string, path: string, body: JsonBody, role: Role): Promise<Told> => {
    const [place = '', search = ''] = path.split('?', 2);
    try {
      const answer = await desk.handle({
        caller: callerOf(ids, role),
        method,
        path: `p/${name}/test/${place}`,
        query: new URLSearchParams(search),
        body: () => body,
        fastifyRequest: null,
      });
      return { status: answer.status, body: JSON.parse(answer.body) };
    } catch (error) {
      const { status, ...told } = describeError(error, 'req', SILENT);
      return { status, body: { error: told } };
    }
  };
  return {
    harness,
    project,
    build: new Builders(project.partitions.test, ids),
    desk,
    audit,
    hinted,
    wakes,
    caller: (role) => callerOf(ids, role),
    get: (path, role = 'operator') => ask('GET', path, {}, role),
    post: (path, body = {}, role = 'operator') => ask('POST', path, body, role),
    patch: (path, body, role = 'operator') => ask('PATCH', path, body, role),
  };
}
