/** Convenient values of requests, strict requests, and arguments of the wrong type. */
import { describe, expect, it } from 'vitest';
import { InvalidRequestError, type Sched, Sched as SchedClient, type SchedError } from '#sdk/index.ts';
import { type Sched as Service, TEST_KEY } from '#test/e2e/harness.ts';
import { ONE_SHOT, PROFILE, URL } from '#test/e2e/resources.ts';
import { clientAt, recordingClient, rejection } from './client-calls.ts';

const HOUR = 3_600_000;

export function inputs({ url }: Service): void {
  it('milliseconds are durations', async () => {
    const { schedules, endpoints } = clientAt(url());
    const retry_policy = { base: 250, max: 1.5 * HOUR };
    const made = await schedules.create({
      endpoint: URL,
      delay: HOUR,
      ttl: 90_000,
      jitter: 500,
      retry_policy,
    });
    const shown = { base: '250ms', max: '1h30m' };
    expect(made).toMatchObject({ ttl: '1m30s', jitter: '500ms', retry_policy: shown });
    const left = Date.parse(made.fire_at ?? '') - Date.parse(made.created_at);
    expect(left).toBe(HOUR);
    expect(await schedules.update(made.id, { ttl: 0.5 })).toMatchObject({ ttl: '0.5ms' });
    const breaker = { threshold: 3, base_open: 1_000, max_open: 24 * HOUR, probe_timeout: 60_000 };
    const profile = await endpoints.create({ ...PROFILE, timeout: 10_000, breaker_policy: breaker });
    expect(profile).toMatchObject({
      timeout: '10s',
      breaker_policy: { threshold: 3, base_open: '1s', max_open: '24h', probe_timeout: '1m' },
    });
    expect((await endpoints.update(profile.id, { timeout: 1_500 })).timeout).toBe('1.5s');
  });

  it('dates are instants', async () => {
    const { schedules, deliveries } = clientAt(url());
    const at = new Date(Date.UTC(2031, 0, 1, 9, 0, 0, 7));
    const made = await schedules.create({ endpoint: URL, fire_at: at });
    expect(made.fire_at).toBe('2031-01-01T09:00:00.007Z');
    const later = { epochMilliseconds: at.getTime() + HOUR };
    const moved = await schedules.reschedule(made.id, { fire_at: later });
    expect(moved.fire_at).toBe('2031-01-01T10:00:00.007Z');
    const created = new Date(made.created_at).getTime();
    const between = (after: number, before: number) =>
      deliveries
        .list({ schedule_id: made.id, created_after: new Date(after), created_before: new Date(before) })
        .toArray(10);
    expect(await between(created - 1, created + 1)).toHaveLength(1);
    expect(await between(created, created + 1)).toHaveLength(0);
  });

  it('json is sent as a body with its type', async () => {
    const { schedules, endpoints } = clientAt(url());
    const json = { hello: 'world' };
    expect(await schedules.create({ ...ONE_SHOT, json })).toMatchObject({ header_keys: ['content-type'] });
    const { id } = await endpoints.create(PROFILE);
    expect(await schedules.create({ endpoint_id: id, delay: HOUR, json })).toMatchObject({ header_keys: [] });
  });

  it('the environment has the address and the key', async () => {
    const before = { ...process.env };
    Object.assign(process.env, { SCHED_URL: url(), SCHED_API_KEY: TEST_KEY });
    try {
      expect(await new SchedClient().schedules.list().page()).toMatchObject({ object: 'list' });
    } finally {
      for (const name of ['SCHED_URL', 'SCHED_API_KEY']) {
        if (before[name] === undefined) delete process.env[name];
        else process.env[name] = before[name];
      }
    }
  });

  describe('a field that the service would ignore', () => {
    /** Typed as a caller in JavaScript sees the client. */
    const WRONG: readonly (readonly [string, string, (sched: Sched, id: string) => Promise<unknown>])[] = [
      [
        'create',
        'timeout',
        ({ schedules }) => schedules.create({ ...ONE_SHOT, timeout: '5s' } as object as typeof ONE_SHOT),
      ],
      ['update', 'json', ({ schedules }, id) => schedules.update(id, { json: {} } as object)],
      ['update', 'cron', ({ schedules }, id) => schedules.update(id, { cron: '0 9 * * *' } as object)],
      [
        'reschedule',
        'endpoint',
        ({ schedules }, id) => schedules.reschedule(id, { delay: HOUR, endpoint: URL } as { delay: number }),
      ],
      [
        'a policy',
        'retry_policy',
        ({ schedules }, id) => schedules.update(id, { retry_policy: { max_retries: 3 } as object }),
      ],
    ];

    it.each(WRONG)('%s: %s is refused', async (_call, field, call) => {
      const { sched, seen } = recordingClient(url());
      const { id } = await sched.schedules.create(ONE_SHOT);
      const error = await rejection(call(sched, id));
      expect(error).toBeInstanceOf(InvalidRequestError);
      expect(error).toMatchObject({ code: 'unknown_field', status: 400, param: field });
      expect((error as SchedError).message).toContain(field);
      expect(seen.at(-1)?.answered.get('preference-applied')).toBe('handling=strict');
    });

    it.each(WRONG)('%s: %s is ignored with strict: false', async (_call, _field, call) => {
      const { sched, seen } = recordingClient(url(), { strict: false });
      const { id } = await sched.schedules.create(ONE_SHOT);
      await call(sched, id);
      expect(seen.at(-1)?.answered.get('sched-ignored-fields')).not.toBeNull();
    });
  });

  it('arguments of the wrong type reject with a sentence, and nothing is sent', async () => {
    const { sched, seen } = recordingClient(url());
    // The calls of a program in JavaScript.
    const { schedules, deliveries, endpoints } = sched as unknown as Record<
      'schedules' | 'deliveries' | 'endpoints',
      Record<string, (...args: unknown[]) => Promise<unknown> & { page(): Promise<unknown> }>
    >;
    const calls: readonly (readonly [() => Promise<unknown> | undefined, RegExp])[] = [
      [
        () => schedules.create?.(),
        /^schedules\.create needs an object, such as \{ endpoint: .* It got undefined\.$/,
      ],
      [
        () => schedules.create?.('https://example.com'),
        /^schedules\.create needs an object.* It got a text\.$/,
      ],
      [() => schedules.create?.({ ...ONE_SHOT, json: {}, body: '' }), /^json and body are both given\./],
      [() => schedules.create?.({ ...ONE_SHOT, delay: Number.NaN }), /^delay is NaN\./],
      [() => schedules.create?.(ONE_SHOT, 'key'), /^The options of a call are an object/],
      [() => schedules.get?.(), /^schedules\.get needs the id of a schedule/],
      [() => schedules.update?.('sch_1'), /^schedules\.update needs an object/],
      [() => schedules.reschedule?.('sch_1'), /^schedules\.reschedule needs an object/],
      [() => schedules.cancel?.(null), /^schedules\.cancel needs the id of a schedule.* It got null\.$/],
      [() => schedules.list?.('active').page(), /^A list takes an object with filters/],
      [() => schedules.deliveries?.().page(), /^schedules\.deliveries needs the id of a schedule/],
      [
        () => deliveries.replay?.({ id: 'dlv_1' }),
        /^deliveries\.replay needs the id of a delivery.* Pass the id itself\.$/,
      ],
      [() => deliveries.attempts?.().page(), /^deliveries\.attempts needs the id of a delivery/],
      [() => endpoints.create?.(), /^endpoints\.create needs an object/],
      [() => endpoints.archive?.(''), /^endpoints\.archive needs the id of an endpoint profile/],
    ];
    for (const [call, message] of calls) {
      const error = await rejection(Promise.resolve(call()));
      expect(error).toBeInstanceOf(TypeError);
      expect((error as Error).message).toMatch(message);
    }
    expect(seen).toHaveLength(0);
  });
}
