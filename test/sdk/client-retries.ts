/** Transient failures: a call is retried, and takes effect once. */
import { describe, expect, it } from 'vitest';
import type { Sched } from '#sdk/index.ts';
import { OK, SERVER_ERROR } from '#test/e2e/drive.ts';
import { type Sched as Service, TEST_KEY } from '#test/e2e/harness.ts';
import { ONE_SHOT, PROFILE, RECURRING } from '#test/e2e/resources.ts';
import { clientAt, recordingClient, rejection, uniqueMetadata } from './client-calls.ts';
import { type Fault, PREFIX, startFaultyProxy } from './client-proxy.ts';

interface Prepared {
  readonly call: (sched: Sched) => Promise<unknown>;
  /** Counts the effects of the call. It is undefined if repeating the call cannot add an effect. */
  readonly effects?: () => Promise<number>;
  readonly hasIdempotencyKey: boolean;
}

export function retries({ url, drive }: Service): void {
  const direct = () => clientAt(url());
  const made = async (): Promise<string> => (await direct().schedules.create(ONE_SHOT)).id;

  const OPERATIONS: Readonly<Record<string, () => Promise<Prepared>>> = {
    async 'create a schedule'() {
      const metadata = uniqueMetadata();
      return {
        call: ({ schedules }) => schedules.create({ ...ONE_SHOT, metadata }),
        effects: async () => (await direct().schedules.list({ metadata }).toArray(10)).length,
        hasIdempotencyKey: true,
      };
    },
    async 'update a schedule'() {
      const id = await made();
      return { call: ({ schedules }) => schedules.update(id, { ttl: '5m' }), hasIdempotencyKey: true };
    },
    async reschedule() {
      const id = await made();
      return { call: ({ schedules }) => schedules.reschedule(id, { delay: '5m' }), hasIdempotencyKey: true };
    },
    async 'create an endpoint'() {
      const metadata = uniqueMetadata();
      return {
        call: ({ endpoints }) => endpoints.create({ ...PROFILE, metadata }),
        effects: async () => {
          const all = await direct().endpoints.list({ limit: 100 }).toArray(1_000);
          return all.filter((each) => each.metadata.sdk === metadata.sdk).length;
        },
        hasIdempotencyKey: true,
      };
    },
    async 'update an endpoint'() {
      const { id } = await direct().endpoints.create(PROFILE);
      return {
        call: ({ endpoints }) => endpoints.update(id, { timeout: '5s' }),
        effects: async () => (await direct().endpoints.get(id)).version - 1,
        hasIdempotencyKey: true,
      };
    },
    async 'replay a delivery'() {
      const id = await made();
      const [pending] = await direct().schedules.deliveries(id).toArray(1);
      await drive.fire(pending?.id ?? '', OK);
      return {
        call: ({ deliveries }) => deliveries.replay(pending?.id ?? ''),
        effects: async () => (await direct().schedules.deliveries(id).toArray(10)).length - 1,
        hasIdempotencyKey: true,
      };
    },
    async 'trigger a schedule'() {
      const { id } = await direct().schedules.create(RECURRING);
      return {
        call: ({ schedules }) => schedules.trigger(id),
        effects: async () => (await direct().schedules.deliveries(id).toArray(10)).length - 1,
        hasIdempotencyKey: true,
      };
    },
    async pause() {
      const id = await made();
      return { call: ({ schedules }) => schedules.pause(id), hasIdempotencyKey: false };
    },
    async 'archive an endpoint'() {
      const { id } = await direct().endpoints.create(PROFILE);
      return { call: ({ endpoints }) => endpoints.archive(id), hasIdempotencyKey: false };
    },
    async read() {
      const id = await made();
      return { call: ({ schedules }) => schedules.get(id), hasIdempotencyKey: false };
    },
  };

  describe.each(Object.entries(OPERATIONS))('%s', (_name, prepare) => {
    it('after a lost answer, the retry has the same key and the call takes effect once', async () => {
      await using proxy = await startFaultyProxy(url(), 'lose the answer', 'pass');
      const { call, effects, hasIdempotencyKey } = await prepare();
      await call(clientAt(proxy.url));
      expect(proxy.requests).toHaveLength(2);
      const [first, again] = proxy.requests;
      expect(first?.answered?.status).toBe(again?.answered?.status);
      expect(first?.headers['idempotency-key'] !== undefined).toBe(hasIdempotencyKey);
      expect(again?.headers['idempotency-key']).toBe(first?.headers['idempotency-key']);
      expect(first?.answered?.headers.get('idempotent-replayed')).toBeNull();
      expect(again?.answered?.headers.get('idempotent-replayed')).toBe(hasIdempotencyKey ? 'true' : null);
      if (effects !== undefined) expect(await effects()).toBe(1);
    });
  });

  it('a cancel of a delivery whose answer was lost is done, and a delivery that ended is refused', async () => {
    const { id } = await direct().schedules.create(RECURRING);
    const { id: delivery } = await direct().schedules.trigger(id);
    await drive.fire(delivery, SERVER_ERROR);
    await using proxy = await startFaultyProxy(url(), 'lose the answer', 'pass');
    const canceled = await clientAt(proxy.url).deliveries.cancel(delivery);
    expect(canceled).toMatchObject({ id: delivery, status: 'canceled' });
    expect(proxy.requests.map(({ answered }) => answered?.status)).toEqual([200, 409, 200]);

    const again = await rejection(direct().deliveries.cancel(delivery));
    expect(again).toMatchObject({ code: 'not_cancelable' });
    const { id: other } = await direct().schedules.trigger(id);
    await drive.fire(other, OK);
    await using failing = await startFaultyProxy(url(), { status: 503, body: '' }, 'pass');
    const late = await rejection(clientAt(failing.url).deliveries.cancel(other));
    expect(late).toMatchObject({ code: 'not_cancelable' });
  });

  it.each<readonly [string, readonly Fault[]]>([
    ['the request is lost', ['lose the request']],
    ['the answer is lost', ['hang']],
    ['the answer stops in the middle', ['stall']],
    ['503', [{ status: 503, body: '' }]],
    [
      '500 and 502 with broken bodies',
      [
        { status: 500, body: '{' },
        { status: 502, body: '<html>' },
      ],
    ],
  ])('%s: exactly one schedule exists afterwards', async (_what, faults) => {
    await using proxy = await startFaultyProxy(url(), ...faults, 'pass');
    const metadata = uniqueMetadata();
    const schedule = await clientAt(proxy.url, { timeoutMs: 400 }).schedules.create({
      ...ONE_SHOT,
      metadata,
    });
    expect(proxy.requests).toHaveLength(faults.length + 1);
    expect(await direct().schedules.list({ metadata }).toArray(10)).toEqual([schedule]);
  });

  it('the call rejects after its retries, and a new call with the same key returns the same schedule', async () => {
    const metadata = uniqueMetadata();
    const idempotencyKey = crypto.randomUUID();
    const create = (sched: Sched) => sched.schedules.create({ ...ONE_SHOT, metadata }, { idempotencyKey });
    await using proxy = await startFaultyProxy(url(), 'lose the answer');
    const error = await rejection(create(clientAt(proxy.url, { retries: 1 })));
    expect(error).toMatchObject({ name: 'ConnectionError', code: 'connection_failed' });
    expect(proxy.requests).toHaveLength(2);

    const { sched, seen } = recordingClient(url());
    const schedule = await create(sched);
    expect(seen[0]?.answered.get('idempotent-replayed')).toBe('true');
    expect(await direct().schedules.list({ metadata }).toArray(10)).toEqual([schedule]);
  });

  it('retries: 0 means one attempt', async () => {
    await using proxy = await startFaultyProxy(url(), { status: 503, body: '' });
    await rejection(clientAt(proxy.url, { retries: 0 }).schedules.list().page());
    expect(proxy.requests).toHaveLength(1);
  });

  it('the client waits for an earlier attempt of the same call that is still in progress', async () => {
    const idempotencyKey = crypto.randomUUID();
    const inProgress = Promise.withResolvers<void>();
    const sched = clientAt(url(), {
      retries: 10,
      fetch: async (address, init) => {
        const response = await fetch(address, init);
        if (response.status === 409) inProgress.resolve();
        return response;
      },
    });
    const both = await drive.whileNothingIsWritten(async () => {
      const both = [1, 2].map(() => sched.schedules.create(ONE_SHOT, { idempotencyKey }));
      await inProgress.promise;
      return both;
    });
    const [one, other] = await Promise.all(both);
    expect(one).toEqual(other);
  });

  it.each(['', '/', '///', PREFIX, `${PREFIX}/`])('the url may end in "%s"', async (ending) => {
    await using proxy = await startFaultyProxy(url());
    await clientAt(proxy.url + ending, { apiKey: TEST_KEY, version: '2026-11-15' })
      .schedules.list()
      .page();
    expect(proxy.requests).toMatchObject([
      { path: '/v1/schedules', headers: { 'sched-version': '2026-11-15' } },
    ]);
  });
}
