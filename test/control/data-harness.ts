/** The routes of a project on a real store. Tests call them with a role, and read what the audit log would get. */

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
import { systemTimers } from '#src/system/timers.ts';
import { type ControlHarness, openControlHarness, SILENT, START } from '#test/process/control-harness.ts';
import { Builders } from '#test/store-contract/builders.ts';
import { expectDeclared } from './answers.ts';

export interface TestAnswer {
  readonly status: number;
  // biome-ignore lint/suspicious/noExplicitAny: the tests check its content.
  readonly body: any;
}

export interface DataHarness {
  readonly control: ControlHarness;
  readonly project: Project;
  readonly build: Builders;
  readonly authorizer: Authorizer;
  readonly audit: readonly AuditedAction[];
  readonly hinted: readonly (DueDelivery | null)[];
  readonly wakes: readonly true[];
  caller(role: Role): Caller;
  get(path: string, role?: Role): Promise<TestAnswer>;
  post(path: string, body?: JsonBody, role?: Role): Promise<TestAnswer>;
  patch(path: string, body: JsonBody, role?: Role): Promise<TestAnswer>;
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

/** One store for all tests of a file. Each test has its own project. Call it at the top of the file. */
export function useDataHarness(): (isCluster?: boolean) => Promise<DataHarness> {
  let harness: ControlHarness | null = null;
  let projects = 0;
  beforeAll(async () => {
    harness = await openControlHarness();
  });
  afterAll(() => harness?.[Symbol.asyncDispose]());
  return (isCluster = false) => {
    if (harness === null) throw new Error('The store is not open.');
    projects += 1;
    return openDataHarness(harness, `shop-${projects}`, isCluster);
  };
}

/** Opens one project in test mode. Requests are made as an operator by default. */
async function openDataHarness(
  harness: ControlHarness,
  name: string,
  isCluster: boolean,
): Promise<DataHarness> {
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
  const authorizer = new Authorizer({
    store,
    pause: async () => {},
    onRefused: async () => {},
    routes: dataRoutes({
      commands,
      upgrade: { requireSince: async () => {} },
      idempotency: new Idempotency(store, clock),
      insight: store.insight,
      jobs: store.jobs,
      alerts: store.alerts,
      timers: systemTimers,
      httpAllowed: false,
      node: 'node-1',
      isCluster,
      dashboard: 'https://sched.example/dashboard',
      wakeReplays: () => void wakes.push(true),
      wakeAlerts: () => void wakes.push(true),
    }),
    auditor: async (action, act) => {
      const answer = await act();
      audit.push({ ...action, subject: answer.subject ?? action.subject });
      return answer;
    },
  });
  const send = async (method: string, path: string, body: JsonBody, role: Role): Promise<TestAnswer> => {
    const [route = '', search = ''] = path.split('?', 2);
    const answer = await authorizer
      .handle({
        caller: callerOf(ids, role),
        method,
        path: `p/${name}/test/${route}`,
        query: new URLSearchParams(search),
        body: () => body,
        idempotencyKey: undefined,
      })
      .catch((thrown: unknown) => {
        const { status, ...error } = describeError(thrown, 'req', SILENT);
        return { status, error };
      });
    const { status } = answer;
    if ('error' in answer) return { status, body: { error: answer.error } };
    const json = JSON.parse(answer.body);
    expectDeclared(method, `p/${name}/test/${path}`, status, json);
    return { status, body: json };
  };
  return {
    control: harness,
    project,
    build: new Builders(project.partitions.test, ids),
    authorizer,
    audit,
    hinted,
    wakes,
    caller: (role) => callerOf(ids, role),
    get: (path, role = 'operator') => send('GET', path, {}, role),
    post: (path, body = {}, role = 'operator') => send('POST', path, body, role),
    patch: (path, body, role = 'operator') => send('PATCH', path, body, role),
  };
}
