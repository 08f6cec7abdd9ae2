/** Every operation through every generated client, with the real service and a real receiver. */
import { randomUUID } from 'node:crypto';
import { describe, expect, inject, test, vi } from 'vitest';
import type { Answer, ApiError, ConnectClient, Delivery, Schedule } from './client.ts';
import { connectHeyApi } from './hey-api.ts';
import { connectOpenapiFetch } from './openapi-fetch.ts';

declare module 'vitest' {
  interface ProvidedContext {
    readonly service: { readonly url: string; readonly key: string; readonly receiver: string };
  }
}

const HOOK = 'https://receiver.example/hooks/reminder';
/** Its time is far in the future, so no schedule has it. */
const UNKNOWN_ID = 'sch_7zzzzzzzzz0000000000000000';

const { url, key, receiver } = inject('service');

function dataOf<T>({ data, error }: Answer<T>): T {
  if (data === undefined) throw new Error(`refused: ${JSON.stringify(error)}`);
  return data;
}

function errorOf({ error, response }: Answer<unknown>): ApiError['error'] & { readonly status: number } {
  if (error === undefined) throw new Error('expected an error');
  return { ...error.error, status: response?.status ?? 0 };
}

const CLIENTS: readonly (readonly [string, ConnectClient])[] = [
  ['openapi-fetch', connectOpenapiFetch],
  ['@hey-api/openapi-ts', connectHeyApi],
];

describe.each(CLIENTS)('%s', (_name, connect) => {
  const client = connect(url, key);

  /** A delivery that the receiver has answered. */
  async function delivered(): Promise<Delivery> {
    const { id } = dataOf(await client.createSchedule({ endpoint: receiver, delay: '1s', body: '{"n":1}' }));
    return vi.waitFor(
      async () => {
        const { data } = dataOf(await client.listScheduleDeliveries(id, { limit: 1 }));
        const [delivery] = data;
        if (delivery?.status !== 'succeeded') throw new Error(`it is ${delivery?.status}`);
        return delivery;
      },
      { timeout: 20_000 },
    );
  }

  test('creates each kind of schedule', async () => {
    const { id: endpoint_id } = dataOf(await client.createEndpoint({ url: HOOK }));
    const inTenDays = new Date(Date.now() + 864_000_000).toISOString();
    const created = [
      await client.createSchedule({ endpoint: HOOK, delay: '1h30m', method: 'PUT', body: 'text' }),
      await client.createSchedule({ endpoint_id, fire_at: inTenDays, headers: { 'X-Tenant': 'acme' } }),
      await client.createSchedule({
        endpoint: HOOK,
        local_fire_at: inTenDays.slice(0, 19),
        timezone: 'Europe/Berlin',
        ttl: null,
      }),
      await client.createSchedule({
        endpoint: HOOK,
        cron: '0 9 * * MON-FRI',
        jitter: '30s',
        rate_limit: { per_second: 2.5 },
        retry_policy: { max_attempts: 3, base: '1s' },
      }),
    ].map(dataOf);
    expect(created.map(({ kind }) => kind)).toEqual(['one_shot', 'one_shot', 'one_shot', 'recurring']);
    expect(created[1]).toMatchObject({ endpoint_id, fire_at: inTenDays, header_keys: ['X-Tenant'] });
    expect(created[3]?.retry_policy.max_attempts).toBe(3);
    expect(created[3]?.next_runs).toHaveLength(5);
  });

  test('sends the Idempotency-Key, and reads the headers of the answer', async () => {
    const idempotencyKey = randomUUID();
    const send = () => client.createSchedule({ endpoint: HOOK, delay: '1h' }, idempotencyKey);
    const [first, second] = [await send(), await send()];
    expect(dataOf(second)).toEqual(dataOf(first));
    expect(first.response?.headers.get('Idempotent-Replayed')).toBeNull();
    expect(second.response?.headers.get('Idempotent-Replayed')).toBe('true');
    expect(second.response?.headers.get('Sched-Request-Id')).toMatch(/^req_/);
  });

  test('filters the list by labels, state and kind', async () => {
    // Labels with characters that a query must encode.
    const run = `run ${randomUUID()} ä&=+[]`;
    const create = async (team: string) =>
      dataOf(
        await client.createSchedule({ endpoint: HOOK, delay: '1h', metadata: { run, 'team/name': team } }),
      ).id;
    const [a, b] = [await create('a'), await create('b')];
    const ids = async (query: Parameters<typeof client.listSchedules>[0]) =>
      dataOf(await client.listSchedules(query)).data.map(({ id }) => id);
    expect(await ids({ metadata: { run } })).toEqual([b, a]);
    expect(await ids({ metadata: { run, 'team/name': 'a' } })).toEqual([a]);
    expect(await ids({ metadata: { run }, state: 'active', kind: 'one_shot' })).toEqual([b, a]);
    expect(await ids({ metadata: { run }, kind: 'recurring' })).toEqual([]);
    expect(await ids({ metadata: { run: 'another' } })).toEqual([]);
  });

  test('reads a list page by page', async () => {
    const run = randomUUID();
    for (let n = 0; n < 3; n++) {
      dataOf(await client.createSchedule({ endpoint: HOOK, delay: '1h', metadata: { run } }));
    }
    const seen: string[] = [];
    let cursor: string | undefined;
    do {
      const page = dataOf(await client.listSchedules({ metadata: { run }, limit: 2, cursor }));
      seen.push(...page.data.map(({ id }) => id));
      cursor = page.next_cursor ?? undefined;
    } while (cursor !== undefined);
    expect(new Set(seen).size).toBe(3);
  });

  test('gets, changes, moves, pauses, resumes and cancels a schedule', async () => {
    const { id } = dataOf(await client.createSchedule({ endpoint: HOOK, cron: '0 9 * * *', ttl: '1h' }));
    expect(dataOf(await client.getSchedule(id)).ttl).toBe('1h');
    const changed = dataOf(await client.updateSchedule(id, { ttl: null, metadata: { team: 'a' } }));
    expect(changed).toMatchObject({ ttl: null, metadata: { team: 'a' } });
    const moved = dataOf(await client.rescheduleSchedule(id, { cron: '30 9 * * *', timezone: 'Asia/Tokyo' }));
    expect(moved).toMatchObject({ cron: '30 9 * * *', timezone: 'Asia/Tokyo' });
    const states: Schedule['state'][] = [
      dataOf(await client.pauseSchedule(id)).state,
      dataOf(await client.resumeSchedule(id)).state,
      dataOf(await client.cancelSchedule(id)).state,
    ];
    expect(states).toEqual(['paused', 'active', 'canceled']);
  });

  test('follows a delivery to its attempts, and replays it', async () => {
    const delivery = await delivered();
    expect(dataOf(await client.getDelivery(delivery.id))).toEqual(delivery);
    const { data: listed } = dataOf(
      await client.listDeliveries({
        schedule_id: delivery.schedule_id ?? '',
        status: 'succeeded',
        created_after: '2020-01-01T00:00:00+02:00',
        created_before: new Date(Date.now() + 60_000).toISOString(),
      }),
    );
    expect(listed).toEqual([delivery]);
    const { data: attempts } = dataOf(await client.listAttempts(delivery.id, {}));
    expect(attempts).toMatchObject([{ attempt_no: 1, outcome: 'success', status_code: 200, error: null }]);
    const replay = dataOf(await client.replayDelivery(delivery.id));
    expect(replay).toMatchObject({ replay_of: delivery.id, idempotency_key: delivery.idempotency_key });
  });

  test('creates, lists, changes and archives endpoint profiles', async () => {
    const metadata = { run: randomUUID() };
    const { id } = dataOf(
      await client.createEndpoint({
        url: HOOK,
        timeout: '10s',
        retry_budget: { rate: 5, burst: 50 },
        breaker_policy: { threshold: 3, base_open: '10s', max_open: '1h', probe_timeout: '5s' },
        metadata,
      }),
    );
    expect(dataOf(await client.getEndpoint(id))).toMatchObject({ version: 1, timeout: '10s', metadata });
    expect(dataOf(await client.updateEndpoint(id, { timeout: null }))).toMatchObject({
      version: 2,
      timeout: null,
    });
    expect(dataOf(await client.archiveEndpoint(id)).archived).toBe(true);
    const ids = async (include_archived: boolean) =>
      dataOf(await client.listEndpoints({ include_archived, limit: 100 })).data.map((profile) => profile.id);
    expect(await ids(false)).not.toContain(id);
    expect(await ids(true)).toContain(id);
  });

  test('types errors by code', async () => {
    const { code, type, param, status, request_id } = errorOf(
      await client.createSchedule({ endpoint: HOOK, cron: '0 25 * * *' }),
    );
    expect({ code, type, param, status }).toEqual({
      code: 'invalid_cron',
      type: 'invalid_request_error',
      param: 'cron',
      status: 422,
    });
    expect(request_id).toMatch(/^req_/);
    // @ts-expect-error No error has this code.
    expect(code === 'invalid_crom').toBe(false);
    expect(errorOf(await client.getSchedule(UNKNOWN_ID))).toMatchObject({ code: 'not_found', status: 404 });
    const stranger = connect(url, 'sk_test_unknown_unknown_unknown');
    expect(errorOf(await stranger.listSchedules({}))).toMatchObject({ code: 'invalid_api_key', status: 401 });
  });

  test('refuses wrong types before they are sent', async () => {
    // @ts-expect-error A delay is a text such as 5s.
    expect(errorOf(await client.createSchedule({ endpoint: HOOK, delay: 5 })).code).toBe('invalid_duration');
    // @ts-expect-error There is no such method.
    const answer = await client.createSchedule({ endpoint: HOOK, delay: '5s', method: 'OPTIONS' });
    expect(errorOf(answer).code).toBe('invalid_method');
  });
});
