/**
 * Every route of the control plane with the role it needs and a call that succeeds with this role. A new route has to
 * be added here too.
 */
import { randomBytes } from 'node:crypto';
import { expect } from 'vitest';
import type { Listed } from '#src/control/http/contract.ts';
import { ALERT_CHANNELS_MAX } from '#src/domain/alert.ts';
import { beginIncident } from '#src/domain/alert-incident.ts';
import type { EndpointKey } from '#src/domain/endpoint-key.ts';
import { IdMint, parseId } from '#src/domain/id.ts';
import type { Role } from '#src/domain/role.ts';
import { responseContext } from '#src/domain/sealing-contexts.ts';
import { Builders, FAILURE, HOURLY, REDIRECT } from '#test/store-contract/builders.ts';
import { PASSWORD, type TestDashboard } from './harness.ts';

export const PROJECT = 'shop';
/** The routes of the project are below this path. */
const PROJECT_PATH = `p/${PROJECT}/test`;

export interface Call {
  /** Values for `:id` and `:secret`. */
  readonly id?: string;
  readonly secret?: string;
  readonly body?: object;
  readonly query?: string;
}

export interface Entry {
  readonly needs: Role;
  /** The status for a user with the role. */
  readonly status: number;
  /** Creates the objects of the call, as an admin of every project. Each call gets its own. */
  readonly prepare: (prepared: Preparations) => Promise<Call>;
  /** The caller's session or password is not valid afterwards. */
  readonly endsSession?: true;
}

const nothing = async (): Promise<Call> => ({});
const given = (body: object) => async (): Promise<Call> => ({ body });
const asked = (query: string) => async (): Promise<Call> => ({ query });

/** Each name is `METHOD path`, and the paths of a project's routes begin with `p/:project/:mode/`. */
export const MATRIX: Readonly<Record<string, Entry>> = {
  'GET sessions': { needs: 'viewer', status: 200, prepare: nothing },
  'POST logout': { needs: 'viewer', status: 200, prepare: nothing, endsSession: true },
  'POST logout-everywhere': { needs: 'viewer', status: 200, prepare: nothing, endsSession: true },
  'POST password': {
    needs: 'viewer',
    status: 200,
    prepare: given({ current: PASSWORD, password: 'eight dry umbrellas' }),
    endsSession: true,
  },
  'GET projects': { needs: 'viewer', status: 200, prepare: nothing },
  'POST projects': {
    needs: 'admin',
    status: 201,
    prepare: async (prepared) => ({ body: { name: prepared.newName() } }),
  },
  'GET users': { needs: 'admin', status: 200, prepare: nothing },
  'POST users/:id': {
    needs: 'admin',
    status: 200,
    prepare: async (prepared) => ({ id: await prepared.user(), body: { role: 'operator', projects: null } }),
  },
  'POST users/:id/remove': { needs: 'admin', status: 200, prepare: (prepared) => prepared.of('user') },
  'GET invitations': { needs: 'admin', status: 200, prepare: nothing },
  'POST invitations': {
    needs: 'admin',
    status: 201,
    prepare: given({ role: 'viewer', projects: null }),
  },
  'POST invitations/:id/remove': {
    needs: 'admin',
    status: 200,
    prepare: (prepared) => prepared.of('invitation'),
  },
  'GET audit': { needs: 'admin', status: 200, prepare: nothing },
  'GET about': { needs: 'viewer', status: 200, prepare: nothing },

  'GET p/:project/:mode/keys': { needs: 'viewer', status: 200, prepare: nothing },
  'POST p/:project/:mode/keys': { needs: 'admin', status: 201, prepare: nothing },
  'POST p/:project/:mode/keys/:id/revoke': {
    needs: 'admin',
    status: 200,
    prepare: (prepared) => prepared.of('key'),
  },
  'GET p/:project/:mode/secrets': { needs: 'viewer', status: 200, prepare: nothing },
  'POST p/:project/:mode/secrets/rotate': { needs: 'admin', status: 201, prepare: given({ overlap: '0' }) },
  'POST p/:project/:mode/secrets/:id/reveal': {
    needs: 'admin',
    status: 200,
    prepare: (prepared) => prepared.of('secret'),
  },

  'POST p/:project/:mode/schedules': {
    needs: 'operator',
    status: 201,
    prepare: given({ endpoint: 'https://receiver.example/', delay: '1h' }),
  },
  'GET p/:project/:mode/schedules': { needs: 'viewer', status: 200, prepare: nothing },
  'GET p/:project/:mode/schedules/:id': {
    needs: 'viewer',
    status: 200,
    prepare: (prepared) => prepared.of('schedule'),
  },
  'PATCH p/:project/:mode/schedules/:id': {
    needs: 'operator',
    status: 200,
    prepare: async (prepared) => ({ id: await prepared.schedule(), body: { ttl: '2h' } }),
  },
  'POST p/:project/:mode/schedules/:id/reschedule': {
    needs: 'operator',
    status: 200,
    prepare: async (prepared) => ({ id: await prepared.schedule(), body: { delay: '2h' } }),
  },
  'POST p/:project/:mode/schedules/:id/pause': {
    needs: 'operator',
    status: 200,
    prepare: (prepared) => prepared.of('schedule'),
  },
  'POST p/:project/:mode/schedules/:id/resume': {
    needs: 'operator',
    status: 200,
    prepare: (prepared) => prepared.of('schedule'),
  },
  'POST p/:project/:mode/schedules/:id/trigger': {
    needs: 'operator',
    status: 201,
    prepare: (prepared) => prepared.of('schedule'),
  },
  'POST p/:project/:mode/schedules/:id/cancel': {
    needs: 'operator',
    status: 200,
    prepare: (prepared) => prepared.of('schedule'),
  },
  'GET p/:project/:mode/schedules/:id/deliveries': {
    needs: 'viewer',
    status: 200,
    prepare: (prepared) => prepared.of('schedule'),
  },
  'GET p/:project/:mode/schedules/:id/calendar': {
    needs: 'viewer',
    status: 200,
    prepare: (prepared) => prepared.of('schedule'),
  },
  'POST p/:project/:mode/schedules/:id/reveal': {
    needs: 'admin',
    status: 200,
    prepare: (prepared) => prepared.of('schedule'),
  },
  'POST p/:project/:mode/preview': { needs: 'viewer', status: 200, prepare: given({ delay: '1h' }) },
  'GET p/:project/:mode/search/schedules': { needs: 'viewer', status: 200, prepare: nothing },
  'GET p/:project/:mode/search/deliveries': { needs: 'viewer', status: 200, prepare: nothing },

  'POST p/:project/:mode/endpoints': {
    needs: 'operator',
    status: 201,
    prepare: given({ url: 'https://receiver.example/' }),
  },
  'GET p/:project/:mode/endpoints': { needs: 'viewer', status: 200, prepare: nothing },
  'GET p/:project/:mode/endpoints/:id': {
    needs: 'viewer',
    status: 200,
    prepare: (prepared) => prepared.of('endpoint'),
  },
  'PATCH p/:project/:mode/endpoints/:id': {
    needs: 'operator',
    status: 200,
    prepare: async (prepared) => ({ id: await prepared.endpoint(), body: { method: 'PUT' } }),
  },
  'POST p/:project/:mode/endpoints/:id/archive': {
    needs: 'operator',
    status: 200,
    prepare: (prepared) => prepared.of('endpoint'),
  },
  'POST p/:project/:mode/endpoints/:id/reveal': {
    needs: 'admin',
    status: 200,
    prepare: (prepared) => prepared.of('endpoint'),
  },
  'GET p/:project/:mode/endpoints/:id/secrets': {
    needs: 'viewer',
    status: 200,
    prepare: (prepared) => prepared.of('endpoint'),
  },
  'POST p/:project/:mode/endpoints/:id/secrets': {
    needs: 'admin',
    status: 201,
    prepare: (prepared) => prepared.of('endpoint'),
  },
  'POST p/:project/:mode/endpoints/:id/secrets/rotate': {
    needs: 'admin',
    status: 201,
    prepare: async (prepared) => ({ id: (await prepared.endpointSecret()).id }),
  },
  'POST p/:project/:mode/endpoints/:id/secrets/remove': {
    needs: 'admin',
    status: 200,
    prepare: async (prepared) => ({ id: (await prepared.endpointSecret()).id }),
  },
  'POST p/:project/:mode/endpoints/:id/secrets/:secret/reveal': {
    needs: 'admin',
    status: 200,
    prepare: (prepared) => prepared.endpointSecret(),
  },
  'GET p/:project/:mode/destinations': { needs: 'viewer', status: 200, prepare: nothing },
  'POST p/:project/:mode/destinations/close-breaker': {
    needs: 'operator',
    status: 200,
    prepare: given({ endpoint: 'https://receiver.example/' }),
  },

  'GET p/:project/:mode/deliveries': { needs: 'viewer', status: 200, prepare: nothing },
  'GET p/:project/:mode/deliveries/:id': {
    needs: 'viewer',
    status: 200,
    prepare: (prepared) => prepared.of('delivery'),
  },
  'GET p/:project/:mode/deliveries/:id/attempts': {
    needs: 'viewer',
    status: 200,
    prepare: (prepared) => prepared.of('delivery'),
  },
  'GET p/:project/:mode/deliveries/:id/details': {
    needs: 'viewer',
    status: 200,
    prepare: (prepared) => prepared.of('delivery'),
  },
  'GET p/:project/:mode/attempts': { needs: 'viewer', status: 200, prepare: nothing },
  'GET p/:project/:mode/attempts/:id/delivery': {
    needs: 'viewer',
    status: 200,
    prepare: (prepared) => prepared.of('attempt'),
  },
  'POST p/:project/:mode/deliveries/:id/replay': {
    needs: 'operator',
    status: 201,
    prepare: (prepared) => prepared.of('endedDelivery'),
  },
  'POST p/:project/:mode/deliveries/:id/cancel': {
    needs: 'operator',
    status: 200,
    prepare: (prepared) => prepared.of('retriedDelivery'),
  },
  'POST p/:project/:mode/deliveries/:id/reveal': {
    needs: 'operator',
    status: 200,
    prepare: async (prepared) => ({ id: await prepared.endedDelivery(), body: { attempt_no: 1 } }),
  },
  'GET p/:project/:mode/replays/count': {
    needs: 'viewer',
    status: 200,
    prepare: asked('status=dead_letter'),
  },
  'GET p/:project/:mode/replays': { needs: 'viewer', status: 200, prepare: nothing },
  'GET p/:project/:mode/replays/:id': {
    needs: 'viewer',
    status: 200,
    prepare: (prepared) => prepared.of('job'),
  },
  'POST p/:project/:mode/replays': {
    needs: 'operator',
    status: 201,
    prepare: async (prepared) => {
      await prepared.stopJobs();
      return { body: { status: 'dead_letter', expected: 1 } };
    },
  },
  'POST p/:project/:mode/replays/:id/stop': {
    needs: 'operator',
    status: 200,
    prepare: (prepared) => prepared.of('job'),
  },

  'GET p/:project/:mode/alerts/channels': { needs: 'viewer', status: 200, prepare: nothing },
  'POST p/:project/:mode/alerts/channels': {
    needs: 'admin',
    status: 201,
    prepare: async (prepared) => ({ body: await prepared.newAlertChannel() }),
  },
  'PATCH p/:project/:mode/alerts/channels/:id': {
    needs: 'admin',
    status: 200,
    prepare: async (prepared) => ({ id: await prepared.alertChannel(), body: { name: prepared.newName() } }),
  },
  'POST p/:project/:mode/alerts/channels/:id/remove': {
    needs: 'admin',
    status: 200,
    prepare: (prepared) => prepared.of('alertChannel'),
  },
  'POST p/:project/:mode/alerts/channels/:id/reveal': {
    needs: 'admin',
    status: 200,
    prepare: (prepared) => prepared.of('alertChannel'),
  },
  'POST p/:project/:mode/alerts/channels/:id/test': {
    needs: 'operator',
    status: 201,
    prepare: (prepared) => prepared.of('alertChannel'),
  },
  'GET p/:project/:mode/alerts/messages/:id': {
    needs: 'viewer',
    status: 200,
    prepare: (prepared) => prepared.of('alertMessage'),
  },
  'GET p/:project/:mode/alerts/conditions': { needs: 'viewer', status: 200, prepare: nothing },
  'POST p/:project/:mode/alerts/conditions': {
    needs: 'admin',
    status: 201,
    prepare: async (prepared) => {
      const terms = { threshold: 10, window_minutes: 5, enabled: true };
      return {
        body: { kind: 'deliveries_failed', ...terms, channel_ids: [await prepared.alertChannel()] },
      };
    },
  },
  'PATCH p/:project/:mode/alerts/conditions/:id': {
    needs: 'admin',
    status: 200,
    prepare: async (prepared) => ({ id: await prepared.alertCondition(), body: { enabled: false } }),
  },
  'POST p/:project/:mode/alerts/conditions/:id/remove': {
    needs: 'admin',
    status: 200,
    prepare: (prepared) => prepared.of('alertCondition'),
  },
  'GET p/:project/:mode/alerts/incidents': { needs: 'viewer', status: 200, prepare: nothing },
  'GET p/:project/:mode/alerts/incidents/:id': {
    needs: 'viewer',
    status: 200,
    prepare: (prepared) => prepared.of('incident'),
  },
  'GET p/:project/:mode/alerts/incidents/:id/messages': {
    needs: 'viewer',
    status: 200,
    prepare: (prepared) => prepared.of('incident'),
  },

  'GET p/:project/:mode/overview': { needs: 'viewer', status: 200, prepare: nothing },
  'GET p/:project/:mode/upcoming': { needs: 'viewer', status: 200, prepare: nothing },
};

type Kind =
  | 'user'
  | 'invitation'
  | 'key'
  | 'secret'
  | 'schedule'
  | 'endpoint'
  | 'delivery'
  | 'endedDelivery'
  | 'retriedDelivery'
  | 'attempt'
  | 'job'
  | 'alertChannel'
  | 'alertCondition'
  | 'alertMessage'
  | 'incident';

/** Creates the objects of the calls. */
export class Preparations {
  readonly #dashboard: TestDashboard;
  readonly #ids = new IdMint((count) => randomBytes(count));
  readonly #prefix: string;
  #made = 0;

  /** All names begin with `prefix`. */
  constructor(dashboard: TestDashboard, prefix: string) {
    this.#dashboard = dashboard;
    this.#prefix = prefix;
  }

  newName(): string {
    this.#made += 1;
    return `${this.#prefix}-${this.#made}`;
  }

  async of(kind: Kind): Promise<Call> {
    return { id: await this[kind]() };
  }

  async user(): Promise<string> {
    const browser = await this.#dashboard.invite(this.newName(), 'viewer');
    return (await browser.get<{ user: { id: string } }>('whoami')).json.user.id;
  }

  invitation(): Promise<string> {
    return this.#post('invitations', { role: 'viewer', projects: null });
  }

  key(): Promise<string> {
    return this.#post(`${PROJECT_PATH}/keys`, {});
  }

  secret(): Promise<string> {
    return this.#firstOf(`${PROJECT_PATH}/secrets`);
  }

  schedule(): Promise<string> {
    const payload = { headers: { 'x-key': 'hidden' }, body: 'hidden' };
    return this.#post(`${PROJECT_PATH}/schedules`, {
      endpoint: 'https://receiver.example/',
      cron: '0 12 * * *',
      ...payload,
    });
  }

  endpoint(): Promise<string> {
    const url = 'https://receiver.example/';
    return this.#post(`${PROJECT_PATH}/endpoints`, { url, headers: { 'x-key': 'hidden' } });
  }

  /** An endpoint profile with its own secret. */
  async endpointSecret(): Promise<Required<Pick<Call, 'id' | 'secret'>>> {
    const id = await this.endpoint();
    const path = `${PROJECT_PATH}/endpoints/${id}/secrets`;
    await this.#post(path, { overlap: '0' });
    return { id, secret: await this.#firstOf(path) };
  }

  async delivery(): Promise<string> {
    return this.#firstOf(`${PROJECT_PATH}/schedules/${await this.schedule()}/deliveries`);
  }

  /** A delivery whose one attempt was answered, and the answer was kept. */
  async endedDelivery(): Promise<string> {
    const { store, vault } = this.#dashboard;
    const project = await store.findProject(PROJECT);
    if (project === null) throw new Error(`There is no project ${PROJECT}.`);
    const build = new Builders(project.partitions.test, this.#ids);
    const { schedule, pending } = build.schedule();
    await store.addSchedule({ schedule, pending, payload: null, profile: null, receipt: null });
    const claimed = build.claim(pending, { schedule, profile: null });
    await store.claim([claimed]);
    const sealed = vault.seal(responseContext(schedule.partition, pending.id, 1), Buffer.from('hidden'));
    const response = { statusCode: 301, contentType: null, isTruncated: false, sealed };
    await store.settle([{ ...build.settle(claimed, schedule, REDIRECT), response }]);
    return pending.id;
  }

  /** A delivery of a recurring schedule that waits for a retry. */
  async retriedDelivery(): Promise<string> {
    const { store } = this.#dashboard;
    const project = await store.findProject(PROJECT);
    if (project === null) throw new Error(`There is no project ${PROJECT}.`);
    const build = new Builders(project.partitions.test, this.#ids);
    const { schedule, pending } = build.schedule({ timing: HOURLY });
    await store.addSchedule({ schedule, pending, payload: null, profile: null, receipt: null });
    const claimed = build.claim(pending, { schedule, profile: null });
    await store.claim([claimed]);
    await store.settle([build.settle(claimed, schedule, FAILURE)]);
    return pending.id;
  }

  async attempt(): Promise<string> {
    return this.#firstOf(`${PROJECT_PATH}/deliveries/${await this.endedDelivery()}/attempts`);
  }

  async job(): Promise<string> {
    await this.stopJobs();
    return this.#post(`${PROJECT_PATH}/replays`, { status: 'dead_letter', expected: 1 });
  }

  async stopJobs(): Promise<void> {
    const { admin } = this.#dashboard;
    const { json } = await admin.get<Listed<{ id: string }>>(`${PROJECT_PATH}/replays`);
    for (const { id } of json.data) await admin.post(`${PROJECT_PATH}/replays/${id}/stop`);
  }

  /** The body of a new channel. A project has 20 at most, so earlier ones make room. */
  async newAlertChannel(): Promise<object> {
    const { admin } = this.#dashboard;
    const path = `${PROJECT_PATH}/alerts`;
    const list = async (name: string) =>
      (await admin.get<Listed<{ id: string }>>(`${path}/${name}`)).json.data;
    if ((await list('channels')).length >= ALERT_CHANNELS_MAX - 1) {
      for (const name of ['conditions', 'channels']) {
        for (const { id } of await list(name)) await admin.post(`${path}/${name}/${id}/remove`);
      }
    }
    return { kind: 'webhook', name: this.newName(), url: 'https://receiver.example/alerts?key=hidden' };
  }

  async alertChannel(): Promise<string> {
    return this.#post(`${PROJECT_PATH}/alerts/channels`, await this.newAlertChannel());
  }

  async alertCondition(): Promise<string> {
    const condition = { kind: 'breaker_opened', channel_ids: [await this.alertChannel()] };
    return this.#post(`${PROJECT_PATH}/alerts/conditions`, condition);
  }

  async alertMessage(): Promise<string> {
    return this.#post(`${PROJECT_PATH}/alerts/channels/${await this.alertChannel()}/test`, {});
  }

  async incident(): Promise<string> {
    const { store } = this.#dashboard;
    const project = await store.findProject(PROJECT);
    const id = parseId('alc', await this.alertCondition());
    const found = project && id && (await store.alerts.findCondition(project.partitions.test, id));
    if (!found) throw new Error('There is no condition.');
    const begun = this.#ids.mint('inc', found.createdAt);
    const finding = { endpoint: 'https://receiver.example/' as EndpointKey, count: null };
    const incident = beginIncident(found, begun, finding, null, found.createdAt);
    await store.alerts.addIncident({ condition: found, incident, messages: [] });
    return begun;
  }

  async #post(path: string, body: object): Promise<string> {
    const { status, json } = await this.#dashboard.admin.post<{ id: string }>(path, body);
    expect([path, status]).toEqual([path, expect.toBeOneOf([200, 201])]);
    return json.id;
  }

  async #firstOf(path: string): Promise<string> {
    const { json } = await this.#dashboard.admin.get<Listed<{ id: string }>>(path);
    return json.data[0]?.id ?? '';
  }
}
