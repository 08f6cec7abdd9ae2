/** Writes by name: what they did, dry runs, and retries without a key. */
import { expect, expectTypeOf, it } from 'vitest';
import type { Plan, Put, Schedule } from '#sdk/index.ts';
import type { Sched as Service } from '#test/e2e/harness.ts';
import { PROFILE, URL as TARGET } from '#test/e2e/resources.ts';
import { clientAt, recordingClient, rejection, uniqueName } from './client-calls.ts';
import { startFaultyProxy } from './client-proxy.ts';

const NIGHTLY = { endpoint: TARGET, cron: '0 3 * * *', json: { report: 'daily' } };

export function names({ url }: Service): void {
  it('put says whether it created, changed or kept the schedule', async () => {
    const { sched, seen } = recordingClient(url());
    const name = uniqueName();
    const made = await sched.schedules.put(name, NIGHTLY);
    const same = await sched.schedules.put(name, NIGHTLY);
    const changed = await sched.schedules.put(name, { ...NIGHTLY, ttl: 600_000 });
    expect([made, same, changed].map(({ putResult }) => putResult)).toEqual([
      'created',
      'unchanged',
      'changed',
    ]);
    expect(same).toEqual(made);
    expect(changed).toMatchObject({ id: made.id, ttl: '10m' });
    expect(seen.map(({ status }) => status)).toEqual([201, 200, 200]);
    expect(seen.every(({ sent }) => sent.get('prefer') === 'handling=strict')).toBe(true);
  });

  it('the result is not written as JSON and not copied, because it is no field of the API', async () => {
    const schedule = await clientAt(url()).schedules.put(uniqueName(), NIGHTLY);
    expect(JSON.stringify(schedule)).not.toContain('putResult');
    expect(Object.keys({ ...schedule })).not.toContain('putResult');
  });

  it('put makes an instant and a payload of the same values the same schedule', async () => {
    const { schedules } = clientAt(url());
    const name = uniqueName();
    const once = { endpoint: TARGET, fire_at: new Date('2031-01-01T09:00:00Z'), body: 'text' };
    expect((await schedules.put(name, once)).putResult).toBe('created');
    expect((await schedules.put(name, once)).putResult).toBe('unchanged');
  });

  it('put tells it of endpoint profiles too', async () => {
    const { endpoints } = clientAt(url());
    const name = uniqueName();
    expect((await endpoints.put(name, PROFILE)).putResult).toBe('created');
    expect((await endpoints.put(name, PROFILE)).putResult).toBe('unchanged');
    const changed = await endpoints.put(name, { ...PROFILE, timeout: 9_000 });
    expect(changed).toMatchObject({ putResult: 'changed', version: 2, timeout: '9s' });
  });

  it('a dry run writes nothing and returns a plan', async () => {
    const { schedules, endpoints } = clientAt(url());
    const name = uniqueName();
    const dryRun = true;
    expect(await schedules.put(name, NIGHTLY, { dryRun })).toMatchObject({
      object: 'plan',
      action: 'create',
    });
    expect(await rejection(schedules.getNamed(name))).toMatchObject({ code: 'not_found' });
    await schedules.put(name, NIGHTLY);
    expect(await schedules.put(name, NIGHTLY, { dryRun })).toEqual({
      object: 'plan',
      action: 'none',
      fields: [],
    });
    expect(await schedules.put(name, { ...NIGHTLY, ttl: '10m' }, { dryRun })).toEqual({
      object: 'plan',
      action: 'change',
      fields: ['ttl'],
    });
    expect(await endpoints.put(name, PROFILE, { dryRun })).toMatchObject({ action: 'create' });
  });

  it('the type of the answer follows dryRun', () => {
    const put = (dryRun: boolean) => clientAt(url()).schedules.put('a', NIGHTLY, { dryRun });
    expectTypeOf(put).returns.resolves.toEqualTypeOf<Put<Schedule> | Plan>();
    const plan = () => clientAt(url()).schedules.put('a', NIGHTLY, { dryRun: true });
    expectTypeOf(plan).returns.resolves.toEqualTypeOf<Plan>();
    const written = () => clientAt(url()).schedules.put('a', NIGHTLY, { timeoutMs: 1 });
    expectTypeOf(written).returns.resolves.toEqualTypeOf<Put<Schedule>>();
  });

  it('after a lost answer, the retry has no key, finds the schedule and changes nothing', async () => {
    await using proxy = await startFaultyProxy(url(), 'lose the answer', 'pass');
    const name = uniqueName();
    const schedule = await clientAt(proxy.url).schedules.put(name, NIGHTLY);
    expect(proxy.requests.map(({ answered }) => answered?.status)).toEqual([201, 200]);
    expect(proxy.requests.some(({ headers }) => headers['idempotency-key'] !== undefined)).toBe(false);
    expect(schedule.putResult).toBe('unchanged');
    expect(await clientAt(url()).schedules.getNamed(name)).toEqual(schedule);
  });

  it('wrong arguments are refused before anything is sent', async () => {
    const { sched, seen } = recordingClient(url());
    // JavaScript callers may pass anything.
    type Wrong = Record<string, (...args: unknown[]) => Promise<unknown>>;
    const { schedules, endpoints, deliveries } = sched as unknown as Record<string, Wrong>;
    const calls: readonly (readonly [Promise<unknown> | undefined, RegExp])[] = [
      [schedules?.put?.('', NIGHTLY), /^schedules\.put needs the name of a schedule/],
      [schedules?.put?.('..', NIGHTLY), /^schedules\.put needs the name of a schedule/],
      [schedules?.put?.('a'), /^schedules\.put needs an object/],
      [
        schedules?.put?.('a', NIGHTLY, { dry_run: true }),
        /^schedules\.put has no option "dry_run"\. Did you mean "dryRun"\?/,
      ],
      [schedules?.put?.('a', NIGHTLY, { dryRun: 'true' }), /^dryRun must be true or false/],
      [endpoints?.put?.(undefined, PROFILE), /^endpoints\.put needs the name of an endpoint profile/],
      [endpoints?.getNamed?.(7), /^endpoints\.getNamed needs the name of an endpoint profile/],
      [deliveries?.response?.('dlv_1'), /^deliveries\.response needs the number of an attempt, from 1/],
      [deliveries?.response?.('dlv_1', 0), /^deliveries\.response needs the number of an attempt, from 1/],
    ];
    for (const [call, message] of calls) {
      const error = await rejection(Promise.resolve(call));
      expect(error).toBeInstanceOf(TypeError);
      expect((error as Error).message).toMatch(message);
    }
    expect(seen).toHaveLength(0);
  });
}
