/** Bad luck on the way: a call is made again, and takes effect once. */
import { describe, expect, it } from 'vitest';
import type { Sched } from '#sdk/index.ts';
import { OK } from '#test/e2e/drive.ts';
import { type Sched as Service, TEST_KEY } from '#test/e2e/harness.ts';
import { ONE_SHOT, PROFILE } from '#test/e2e/resources.ts';
import { clientAt, ownLabels, rejection, watchedClient } from './client-calls.ts';
import { type Fault, PREFIX, startWay } from './client-proxy.ts';

interface Prepared {
  readonly call: (sched: Sched) => Promise<unknown>;
  /** How many times it had its effect; undefined where the effect is the same however often. */
  readonly effects?: () => Promise<number>;
  readonly isKeyed: boolean;
}

export function retries({ url, drive }: Service): void {
  const direct = () => clientAt(url());
  const made = async (): Promise<string> => (await direct().schedules.create(ONE_SHOT)).id;

  const OPERATIONS: Readonly<Record<string, () => Promise<Prepared>>> = {
    async 'create a schedule'() {
      const metadata = ownLabels();
      return {
        call: ({ schedules }) => schedules.create({ ...ONE_SHOT, metadata }),
        effects: async () => (await direct().schedules.list({ metadata }).toArray(10)).length,
        isKeyed: true,
      };
    },
    async 'update a schedule'() {
      const id = await made();
      return { call: ({ schedules }) => schedules.update(id, { ttl: '5m' }), isKeyed: true };
    },
    async reschedule() {
      const id = await made();
      return { call: ({ schedules }) => schedules.reschedule(id, { delay: '5m' }), isKeyed: true };
    },
    async 'create an endpoint'() {
      const metadata = ownLabels();
      return {
        call: ({ endpoints }) => endpoints.create({ ...PROFILE, metadata }),
        effects: async () => {
          const all = await direct().endpoints.list({ limit: 100 }).toArray(1_000);
          return all.filter((each) => each.metadata.sdk === metadata.sdk).length;
        },
        isKeyed: true,
      };
    },
    async 'update an endpoint'() {
      const { id } = await direct().endpoints.create(PROFILE);
      return {
        call: ({ endpoints }) => endpoints.update(id, { timeout: '5s' }),
        effects: async () => (await direct().endpoints.get(id)).version - 1,
        isKeyed: true,
      };
    },
    async 'replay a delivery'() {
      const id = await made();
      const [pending] = await direct().schedules.deliveries(id).toArray(1);
      await drive.fire(pending?.id ?? '', OK);
      return {
        call: ({ deliveries }) => deliveries.replay(pending?.id ?? ''),
        effects: async () => (await direct().schedules.deliveries(id).toArray(10)).length - 1,
        isKeyed: true,
      };
    },
    async pause() {
      const id = await made();
      return { call: ({ schedules }) => schedules.pause(id), isKeyed: false };
    },
    async 'archive an endpoint'() {
      const { id } = await direct().endpoints.create(PROFILE);
      return { call: ({ endpoints }) => endpoints.archive(id), isKeyed: false };
    },
    async read() {
      const id = await made();
      return { call: ({ schedules }) => schedules.get(id), isKeyed: false };
    },
  };

  describe.each(Object.entries(OPERATIONS))('%s', (_name, prepare) => {
    it('its answer is lost: made again with the same key, it takes effect once', async () => {
      await using way = await startWay(url(), 'lose the answer', 'pass');
      const { call, effects, isKeyed } = await prepare();
      await call(clientAt(way.url));
      expect(way.passages).toHaveLength(2);
      const [first, again] = way.passages;
      expect(first?.answered?.status).toBe(again?.answered?.status);
      expect(first?.headers['idempotency-key'] !== undefined).toBe(isKeyed);
      expect(again?.headers['idempotency-key']).toBe(first?.headers['idempotency-key']);
      expect(first?.answered?.headers.get('idempotent-replayed')).toBeNull();
      expect(again?.answered?.headers.get('idempotent-replayed')).toBe(isKeyed ? 'true' : null);
      if (effects !== undefined) expect(await effects()).toBe(1);
    });
  });

  it.each<readonly [string, readonly Fault[]]>([
    ['it never arrived', ['lose it']],
    ['the answer did not come', ['hang']],
    ['the answer stopped in the middle', ['stall']],
    ['503', [{ status: 503, body: '' }]],
    [
      '500 and 502, with whatever in it',
      [
        { status: 500, body: '{' },
        { status: 502, body: '<html>' },
      ],
    ],
  ])('%s: exactly one schedule exists afterwards', async (_what, faults) => {
    await using way = await startWay(url(), ...faults, 'pass');
    const metadata = ownLabels();
    const schedule = await clientAt(way.url, { timeoutMs: 400 }).schedules.create({ ...ONE_SHOT, metadata });
    expect(way.passages).toHaveLength(faults.length + 1);
    expect(await direct().schedules.list({ metadata }).toArray(10)).toEqual([schedule]);
  });

  it('what goes on failing fails, after the retries; the same key by hand leads to the same schedule', async () => {
    const metadata = ownLabels();
    const idempotencyKey = crypto.randomUUID();
    const create = (sched: Sched) => sched.schedules.create({ ...ONE_SHOT, metadata }, { idempotencyKey });
    await using way = await startWay(url(), 'lose the answer');
    const error = await rejection(create(clientAt(way.url, { retries: 1 })));
    expect(error).toMatchObject({ name: 'ConnectionError', code: 'connection_failed' });
    expect(way.passages).toHaveLength(2);

    const { sched, seen } = watchedClient(url());
    const schedule = await create(sched);
    expect(seen[0]?.answered.get('idempotent-replayed')).toBe('true');
    expect(await direct().schedules.list({ metadata }).toArray(10)).toEqual([schedule]);
  });

  it('retries: 0 is one attempt', async () => {
    await using way = await startWay(url(), { status: 503, body: '' });
    await rejection(clientAt(way.url, { retries: 0 }).schedules.list().page());
    expect(way.passages).toHaveLength(1);
  });

  it('a twin that is still in progress is waited for', async () => {
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
    await using way = await startWay(url());
    await clientAt(way.url + ending, { apiKey: TEST_KEY, version: '2026-11-15' })
      .schedules.list()
      .page();
    expect(way.passages).toMatchObject([
      { path: '/v1/schedules', headers: { 'sched-version': '2026-11-15' } },
    ]);
  });
}
