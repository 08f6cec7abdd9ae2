/** Two projects with two modes: a key sees its own project and mode, and nothing of the other three. */
import { beforeAll, describe, expect, it } from 'vitest';
import type { Answer, Api } from './client.ts';
import {
  created,
  createdProfile,
  delivery,
  expectError,
  expectStatus,
  list,
  onlyDelivery,
  profile,
  schedule,
} from './expectations.ts';
import { useSched } from './harness.ts';
import { type ErrorBody, ONE_SHOT, PROFILE, type Schedule, UNKNOWN } from './resources.ts';

const { api, live, addProject } = useSched();

/** The objects of one tenant. */
interface Tenant {
  readonly api: Api;
  readonly schedule: string;
  readonly delivery: string;
  readonly endpoint: string;
}

const NAMES = ['default test', 'default live', 'other test', 'other live'] as const;
type Name = (typeof NAMES)[number];
const PAIRS = NAMES.flatMap((reader) =>
  NAMES.filter((owner) => owner !== reader).map((owner) => [reader, owner] as const),
);

let tenants: Readonly<Record<Name, Tenant>>;

beforeAll(async () => {
  const other = await addProject('other');
  tenants = {
    'default test': await populated(api),
    'default live': await populated(live),
    'other test': await populated(other.test),
    'other live': await populated(other.live),
  };
});

async function populated(caller: Api): Promise<Tenant> {
  const endpoint = (await createdProfile(caller, PROFILE)).id;
  const shown = await created(caller, { ...ONE_SHOT, metadata: { shared: 'label' } });
  await created(caller, { endpoint_id: endpoint, delay: '1h' });
  return { api: caller, schedule: shown.id, delivery: (await onlyDelivery(caller, shown.id)).id, endpoint };
}

type Ids = Pick<Tenant, 'schedule' | 'delivery' | 'endpoint'>;

/** Every operation that takes an id. */
const OPERATIONS: readonly (readonly [string, (caller: Api, ids: Ids) => Promise<Answer>])[] = [
  ['GET /schedules/{id}', (caller, ids) => caller.get(`/v1/schedules/${ids.schedule}`)],
  ['PATCH /schedules/{id}', (caller, ids) => caller.patch(`/v1/schedules/${ids.schedule}`, { metadata: {} })],
  [
    'POST …/reschedule',
    (caller, ids) => caller.post(`/v1/schedules/${ids.schedule}/reschedule`, { delay: '9h' }),
  ],
  ['POST …/pause', (caller, ids) => caller.post(`/v1/schedules/${ids.schedule}/pause`)],
  ['POST …/resume', (caller, ids) => caller.post(`/v1/schedules/${ids.schedule}/resume`)],
  ['POST …/cancel', (caller, ids) => caller.post(`/v1/schedules/${ids.schedule}/cancel`)],
  ['GET /schedules/{id}/deliveries', (caller, ids) => caller.get(`/v1/schedules/${ids.schedule}/deliveries`)],
  ['GET /endpoints/{id}', (caller, ids) => caller.get(`/v1/endpoints/${ids.endpoint}`)],
  [
    'PATCH /endpoints/{id}',
    (caller, ids) => caller.patch(`/v1/endpoints/${ids.endpoint}`, { timeout: '9s' }),
  ],
  ['POST …/archive', (caller, ids) => caller.post(`/v1/endpoints/${ids.endpoint}/archive`)],
  ['GET /deliveries/{id}', (caller, ids) => caller.get(`/v1/deliveries/${ids.delivery}`)],
  ['POST …/replay', (caller, ids) => caller.post(`/v1/deliveries/${ids.delivery}/replay`)],
  ['GET /deliveries/{id}/attempts', (caller, ids) => caller.get(`/v1/deliveries/${ids.delivery}/attempts`)],
];

describe.each(PAIRS)('%s, with an id of %s', (reader, owner) => {
  it.each(OPERATIONS)('%s answers 404, exactly like an id that never existed', async (_what, call) => {
    const { api: caller } = tenants[reader];
    const answer = await call(caller, tenants[owner]);
    expectError(answer, 404, 'not_found');
    const never = await call(caller, UNKNOWN);
    const without = (of: Answer) => ({ ...(of.json as ErrorBody).error, request_id: '' });
    expect(without(answer)).toEqual(without(never));
  });

  it('its endpoint profile cannot be used by a schedule', async () => {
    const body = { endpoint_id: tenants[owner].endpoint, delay: '1h' };
    const answer = await tenants[reader].api.post('/v1/schedules', body);
    expectError(answer, 422, 'invalid_endpoint', 'endpoint_id');
  });

  it('its schedule matches no deliveries in the list', async () => {
    const path = `/v1/deliveries?schedule_id=${tenants[owner].schedule}`;
    expect((await list(tenants[reader].api, path)).data).toEqual([]);
  });

  it.each(['schedules', 'endpoints', 'deliveries'])('its cursor of %s is refused', async (name) => {
    const mine = tenants[owner].api;
    if (name === 'endpoints') await createdProfile(mine, PROFILE);
    const { next_cursor } = await list(mine, `/v1/${name}?limit=1`);
    expect(next_cursor).not.toBeNull();
    const answer = await tenants[reader].api.get(`/v1/${name}?cursor=${next_cursor}`);
    expectError(answer, 400, 'invalid_cursor', 'cursor');
  });
});

it.each(NAMES)('nothing of %s was changed, and its lists contain only its own objects', async (name) => {
  const { api: caller, ...ids } = tenants[name];
  expect(await schedule(caller, ids.schedule)).toMatchObject({
    state: 'active',
    metadata: { shared: 'label' },
  });
  expect(await delivery(caller, ids.delivery)).toMatchObject({ status: 'scheduled' });
  expect(await profile(caller, ids.endpoint)).toMatchObject({ archived: false, version: 1 });

  const mode = name.endsWith('live') ? 'live' : 'test';
  const others = NAMES.filter((other) => other !== name).map((other) => tenants[other]);
  for (const kind of ['schedule', 'delivery', 'endpoint'] as const) {
    const path = kind === 'delivery' ? '/v1/deliveries' : `/v1/${kind}s`;
    const { data } = await list<{ readonly id: string; readonly mode: string }>(caller, `${path}?limit=100`);
    const listed = data.map(({ id }) => id);
    expect(listed).toContain(ids[kind]);
    expect(listed.filter((id) => others.some((other) => other[kind] === id))).toEqual([]);
    expect(data.filter((item) => item.mode !== mode)).toEqual([]);
  }
  const labelled = await list<Schedule>(caller, '/v1/schedules?metadata[shared]=label');
  expect(labelled.data.map(({ id }) => id)).toEqual([ids.schedule]);
});

it('the same Idempotency-Key takes effect once in each of the four', async () => {
  const callers = NAMES.map((name) => tenants[name].api.with({ 'idempotency-key': 'one key for all' }));
  const answers = await Promise.all(
    callers.map((caller, i) =>
      caller.post<Schedule>('/v1/schedules', { ...ONE_SHOT, metadata: { tenant: `${i}` } }),
    ),
  );
  const ids = answers.map((answer) => expectStatus(answer, 201).id);
  expect(new Set(ids).size).toBe(4);
  expect(answers.map(({ headers }) => headers['idempotent-replayed'])).toEqual([
    undefined,
    undefined,
    undefined,
    undefined,
  ]);
});
