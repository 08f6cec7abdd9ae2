/**
 * Recurring schedules across daylight saving time, a clock that is set while deliveries wait, and long
 * timeouts. The service runs with a shifted clock (see `service-clock.ts`).
 */
import { describe, expect, it, vi } from 'vitest';
import { Api } from '#test/e2e/client.ts';
import {
  attemptsOf,
  createdProfile,
  deliveriesOf,
  delivery,
  HOUR,
  MINUTE,
  ms,
  ordered,
  patchedProfile,
  SECOND,
} from '#test/e2e/expectations.ts';
import { answer, hang, held } from '#test/receiver/behaviours.ts';
import { type Hook, startReceiver } from '#test/receiver/receiver.ts';
import { CONCURRENT_SERVICES, type Given, given, startWithFastTimers, TEST_KEY } from './harness.ts';
import { ShiftedService } from './shifted-service.ts';
import { sleep, waitForDue, waitForEnd, waitForStatus, waitUntil } from './waits.ts';

/** The clock is set to this long before an instant. The rest passes in real time. */
const BEFORE_MS = 500;

interface Recurring extends Given {
  readonly hook: Hook;
}

async function recurring(service: ShiftedService, timezone: string, cron: string): Promise<Recurring> {
  const hook = service.hook();
  return { hook, ...(await given(service.api, { endpoint: hook.url, cron, timezone })) };
}

/** Lets the clock of the service pass this instant. */
async function passInstant(service: ShiftedService, time: string): Promise<void> {
  await service.setTo(Date.parse(time) - BEFORE_MS);
  await sleep(BEFORE_MS + 250);
}

/** The occurrences that were sent, in order, and the one that waits. */
async function occurrencesOf(api: Api, { id }: Given): Promise<readonly string[]> {
  const deliveries = (await deliveriesOf(api, id)).toReversed();
  const [waiting, ...others] = deliveries.filter(({ status }) => status === 'scheduled');
  expect(others).toEqual([]);
  const fired = deliveries.filter(({ attempt_count }) => attempt_count > 0);
  expect(fired.map(({ attempt_count }) => attempt_count)).toEqual(fired.map(() => 1));
  return [
    ...fired.map(({ scheduled_for }) => utc(scheduled_for)),
    `next ${utc(waiting?.scheduled_for ?? '')}`,
  ];
}

function utc(timestamp: string): string {
  return timestamp.replace(':00.000Z', 'Z');
}

describe('cron across daylight saving time', CONCURRENT_SERVICES, () => {
  it('Europe/Berlin in spring: 02:30 is in the gap and is sent once, at 03:00', async () => {
    await using service = await ShiftedService.at('2027-03-28T00:40:00Z');
    const { api } = service;
    const berlin = (cron: string) => recurring(service, 'Europe/Berlin', cron);
    const inGap = await berlin('30 2 * * *');
    const everyHalfHour = await berlin('*/30 * * * *');
    const atThree = await berlin('0 3 * * *');
    const afterGap = await berlin('30 3 * * *');
    const nextDay = await berlin('30 2 29 3 *');

    await passInstant(service, '2027-03-28T01:00:00Z');
    await inGap.hook.arrived();
    await everyHalfHour.hook.arrived();
    await atThree.hook.arrived();
    await passInstant(service, '2027-03-28T01:30:00Z');
    await everyHalfHour.hook.arrived(2);
    await afterGap.hook.arrived();

    expect(await occurrencesOf(api, inGap)).toEqual(['2027-03-28T01:00Z', 'next 2027-03-29T00:30Z']);
    expect(await occurrencesOf(api, everyHalfHour)).toEqual([
      '2027-03-28T01:00Z',
      '2027-03-28T01:30Z',
      'next 2027-03-28T02:00Z',
    ]);
    expect(await occurrencesOf(api, atThree)).toEqual(['2027-03-28T01:00Z', 'next 2027-03-29T01:00Z']);
    expect(await occurrencesOf(api, afterGap)).toEqual(['2027-03-28T01:30Z', 'next 2027-03-29T01:30Z']);
    expect(await occurrencesOf(api, nextDay)).toEqual(['next 2027-03-29T00:30Z']);
    await service.end();
  });

  it('Europe/Berlin in autumn: a fixed time is sent once, in the first pass, and wildcards in both', async () => {
    await using service = await ShiftedService.at('2027-10-31T00:10:00Z');
    const { api } = service;
    const berlin = (cron: string) => recurring(service, 'Europe/Berlin', cron);
    const fixed = await berlin('30 2 * * *');
    const everyHalfHour = await berlin('*/30 * * * *');

    for (const time of ['00:30', '01:00', '01:30']) await passInstant(service, `2027-10-31T${time}:00Z`);
    await everyHalfHour.hook.arrived(3);
    expect(await occurrencesOf(api, fixed)).toEqual(['2027-10-31T00:30Z', 'next 2027-11-01T01:30Z']);
    expect(await occurrencesOf(api, everyHalfHour)).toEqual([
      '2027-10-31T00:30Z',
      '2027-10-31T01:00Z',
      '2027-10-31T01:30Z',
      'next 2027-10-31T02:00Z',
    ]);
    expect(fixed.hook.requests).toHaveLength(1);
    await service.end();
  });

  it('Australia/Lord_Howe has a fold and a gap of half an hour, America/Santiago a gap at midnight', async () => {
    await using service = await ShiftedService.at('2027-04-03T14:40:00Z');
    const { api } = service;
    const lordHowe = (cron: string) => recurring(service, 'Australia/Lord_Howe', cron);
    // At 15:00 UTC the clock goes from 02:00 back to 01:30.
    const fixed = await lordHowe('45 1 * * *');
    const everyQuarter = await lordHowe('*/15 * * * *');
    for (const time of ['14:45', '15:00', '15:15']) await passInstant(service, `2027-04-03T${time}:00Z`);
    await everyQuarter.hook.arrived(3);
    expect(await occurrencesOf(api, fixed)).toEqual(['2027-04-03T14:45Z', 'next 2027-04-04T15:15Z']);
    expect(await occurrencesOf(api, everyQuarter)).toEqual([
      '2027-04-03T14:45Z',
      '2027-04-03T15:00Z',
      '2027-04-03T15:15Z',
      'next 2027-04-03T15:30Z',
    ]);
    for (const { id } of [fixed, everyQuarter]) await ordered(api, id, 'cancel');

    // At 04:00 UTC the clock goes from 00:00 on to 01:00.
    await service.setTo('2027-09-05T03:50:00Z');
    const santiago = (cron: string) => recurring(service, 'America/Santiago', cron);
    const afterMidnight = await santiago('30 0 * * *');
    const midnight = await santiago('0 0 * * *');
    const atOne = await santiago('0 1 * * *');
    await passInstant(service, '2027-09-05T04:00:00Z');
    for (const { hook } of [afterMidnight, midnight, atOne]) await hook.arrived();
    await passInstant(service, '2027-09-05T04:30:00Z');
    expect(await occurrencesOf(api, afterMidnight)).toEqual(['2027-09-05T04:00Z', 'next 2027-09-06T03:30Z']);
    expect(await occurrencesOf(api, midnight)).toEqual(['2027-09-05T04:00Z', 'next 2027-09-06T03:00Z']);
    expect(await occurrencesOf(api, atOne)).toEqual(['2027-09-05T04:00Z', 'next 2027-09-06T04:00Z']);
    for (const { id } of [afterMidnight, midnight, atOne]) await ordered(api, id, 'cancel');

    // At 15:30 UTC the clock goes from 02:00 on to 02:30.
    await service.setTo('2027-10-02T15:10:00Z');
    const inGap = await lordHowe('15 2 * * *');
    await passInstant(service, '2027-10-02T15:30:00Z');
    await inGap.hook.arrived();
    expect(await occurrencesOf(api, inGap)).toEqual(['2027-10-02T15:30Z', 'next 2027-10-03T15:15Z']);
    await service.end();
  });
});

describe('every minute', CONCURRENT_SERVICES, () => {
  it('each occurrence is sent in its minute, and those missed by a clock jump or a downtime do not pile up', async () => {
    await using service = await ShiftedService.at('2027-01-05T12:00:30Z');
    const { api } = service;
    const minutely = await recurring(service, 'UTC', '* * * * *');
    await passInstant(service, '2027-01-05T12:01:00Z');
    await minutely.hook.arrived();
    await passInstant(service, '2027-01-05T12:02:00Z');
    await minutely.hook.arrived(2);
    expect(await occurrencesOf(api, minutely)).toEqual([
      '2027-01-05T12:01Z',
      '2027-01-05T12:02Z',
      'next 2027-01-05T12:03Z',
    ]);

    await service.setTo('2027-01-05T12:20:30Z');
    await minutely.hook.arrived(3);
    await vi.waitFor(async () =>
      expect((await occurrencesOf(api, minutely)).slice(2)).toEqual([
        '2027-01-05T12:03Z',
        'next 2027-01-05T12:21Z',
      ]),
    );

    const withTtl = await given(api, {
      endpoint: service.hook().url,
      cron: '* * * * *',
      ttl: '5s',
    });
    await service.restartAt('2027-01-06T18:00:20Z');
    await minutely.hook.arrived(4);
    await vi.waitFor(async () =>
      expect((await occurrencesOf(api, minutely)).slice(3)).toEqual([
        '2027-01-05T12:21Z',
        'next 2027-01-06T18:01Z',
      ]),
    );
    const late = (await deliveriesOf(api, minutely.id))[1];
    expect((await attemptsOf(api, late?.id ?? ''))[0]?.lateness_ms).toBeGreaterThan(24 * HOUR);

    // Its deadline passed meanwhile. It expired without an attempt, and the schedule continues.
    await waitForStatus(api, withTtl.pending.id, 'expired');
    expect((await delivery(api, withTtl.pending.id)).attempt_count).toBe(0);
    expect(await occurrencesOf(api, withTtl)).toEqual(['next 2027-01-06T18:01Z']);
    await sleep(300);
    expect(minutely.hook.requests).toHaveLength(4);
    await service.end();
  });
});

describe('the clock of the machine is set while deliveries wait', CONCURRENT_SERVICES, () => {
  it('an hour forward: overdue deliveries are sent once, none is early, and timeouts are not affected', async () => {
    await using service = await ShiftedService.at('2027-01-05T12:00:00Z');
    const { api } = service;
    const hooks = { soon: service.hook(), halfHour: service.hook(), later: service.hook() };
    const gate = held();
    const sending = service.hook(gate);
    const retried = service.hook(answer(500), answer(200));
    const profile = await createdProfile(api, { url: sending.url, timeout: '10m' });
    const [halfHour, later, sent, retrying] = await Promise.all([
      given(api, { endpoint: hooks.halfHour.url, delay: '30m' }),
      given(api, { endpoint: hooks.later.url, delay: '1h1m' }),
      given(api, { endpoint_id: profile.id }),
      given(api, { endpoint: retried.url, retry_policy: { base: '20m', factor: 1 } }),
    ]);
    await sending.arrived();
    await waitForStatus(api, retrying.pending.id, 'retry_scheduled');
    const soon = await given(api, { endpoint: hooks.soon.url });

    await service.stepBy(HOUR);
    for (const hook of [hooks.soon, hooks.halfHour]) await hook.arrived();
    await retried.arrived(2);
    const { attempts } = await waitForEnd(api, halfHour.pending.id);
    expect(attempts[0]?.lateness_ms).toBeGreaterThan(29 * MINUTE);
    await waitForStatus(api, soon.pending.id, 'succeeded');
    await waitForStatus(api, retrying.pending.id, 'succeeded');
    await sleep(300);
    expect((await delivery(api, later.pending.id)).status).toBe('scheduled');
    expect((await delivery(api, sent.pending.id)).status).toBe('claimed');
    gate.release();
    await waitForStatus(api, sent.pending.id, 'succeeded');

    await service.setTo(ms(later.pending.scheduled_for) - BEFORE_MS);
    await hooks.later.arrived();
    await waitForStatus(api, later.pending.id, 'succeeded');
    const all = [...Object.values(hooks), sending].map(({ requests }) => requests.length);
    expect(all).toEqual([1, 1, 1, 1]);
    await service.end();
  });

  it('an hour back: nothing is sent before its instant by the service’s clock, lost or sent twice', async () => {
    await using service = await ShiftedService.at('2027-01-05T12:00:00Z');
    const { api } = service;
    const waitingHook = service.hook();
    const gate = held();
    const sending = service.hook(gate);
    const retried = service.hook(answer(500), answer(200));
    const minutely = await recurring(service, 'UTC', '* * * * *');
    const [sent, retrying] = await Promise.all([
      given(api, { endpoint: sending.url }),
      given(api, { endpoint: retried.url, retry_policy: { base: '2s', factor: 1 } }),
    ]);
    await sending.arrived();
    await waitForStatus(api, retrying.pending.id, 'retry_scheduled');
    const waiting = await given(api, { endpoint: waitingHook.url, delay: '1500ms' });
    await service.stepBy(-HOUR);

    gate.release();
    await waitForStatus(api, sent.pending.id, 'succeeded');
    const [attempt] = await attemptsOf(api, sent.pending.id);
    expect(attempt?.egress_ms).toBeGreaterThanOrEqual(0);
    const fresh = await given(api, { endpoint: service.hook().url });
    await waitForStatus(api, fresh.pending.id, 'succeeded');
    await sleep(1.2 * SECOND);
    expect(waitingHook.requests).toEqual([]);
    expect(retried.requests).toHaveLength(1);
    expect(minutely.hook.requests).toEqual([]);

    await service.stepBy(HOUR);
    await waitingHook.arrived();
    await retried.arrived(2);
    await waitForStatus(api, waiting.pending.id, 'succeeded');
    await waitForStatus(api, retrying.pending.id, 'succeeded');
    expect([waitingHook, retried, sending].map(({ requests }) => requests.length)).toEqual([1, 2, 1]);
    await passInstant(service, '2027-01-05T12:01:00Z');
    await minutely.hook.arrived();
    // The clock goes back before an occurrence that was sent. It is not sent again.
    await passInstant(service, '2027-01-05T12:01:00Z');
    expect(await occurrencesOf(api, minutely)).toEqual(['2027-01-05T12:01Z', 'next 2027-01-05T12:02Z']);
    await service.end();
  });
});

describe('a service that starts with a clock far ahead', CONCURRENT_SERVICES, () => {
  /** Resolves when the cleaner of the running service has searched for everything that may be old. */
  async function waitForCleaner({ api }: ShiftedService): Promise<void> {
    await vi.waitFor(
      async () => {
        const { text } = await api.get('/metrics');
        expect(text).toMatch(/sched_store_verb_duration_seconds_count\{verb="saveTrustedTime"\} [1-9]/);
        expect(text).toMatch(/sched_store_verb_duration_seconds_count\{verb="prune"\} ([4-9]|\d\d)/);
      },
      { timeout: 20_000, interval: 100 },
    );
  }

  it('a year ahead: the cleaner still removes no history', async () => {
    await using service = await ShiftedService.at('2027-01-05T12:00:00Z');
    const { api } = service;
    const hook = service.hook(answer(200));
    const { id, pending } = await given(api, { endpoint: hook.url });
    await waitForStatus(api, pending.id, 'succeeded');
    await waitForCleaner(service);

    await service.restartAt('2028-01-05T12:00:00Z');
    await waitForCleaner(service);
    expect((await delivery(api, pending.id)).status).toBe('succeeded');
    expect(await attemptsOf(api, pending.id)).toHaveLength(1);

    // Another start with the same clock removes nothing either.
    await service.restartAt('2028-01-05T12:01:00Z');
    await waitForCleaner(service);
    expect(await deliveriesOf(api, id)).toHaveLength(1);
    await service.end();
  });
});

describe('the default breaker', CONCURRENT_SERVICES, () => {
  const RETRIES = { retry_policy: { base: '10ms', factor: 1, max_attempts: 50 } };

  /** The window in minutes that the attempt numbered `attempts` opened. The clock is then set to its end. */
  async function windowOf(service: ShiftedService, id: string, attempts: number): Promise<number> {
    const { api } = service;
    const shown = await waitUntil(
      api,
      id,
      ({ attempt_count, next_fire_at }) =>
        attempt_count === attempts && next_fire_at !== null && ms(next_fire_at) > service.now + 5 * SECOND,
    );
    const last = (await attemptsOf(api, id))[attempts - 1];
    await service.setTo(ms(shown.next_fire_at));
    return (ms(shown.next_fire_at) - ms(last?.finished_at)) / MINUTE;
  }

  it('opens after 5 failures for 30 s, and its window doubles with each failed probe up to 1 h', async () => {
    await using service = await ShiftedService.at('2027-01-05T12:00:00Z');
    const { api } = service;
    const inline = await given(api, { endpoint: service.hook(answer(500)).url, ...RETRIES });
    expect(await windowOf(service, inline.pending.id, 5)).toBe(0.5);
    expect(await windowOf(service, inline.pending.id, 6)).toBe(1);

    // A window that another policy opened continues under the default policy.
    const breaker_policy = { threshold: 1, base_open: '20m', max_open: '24h', probe_timeout: '30s' };
    const profile = await createdProfile(api, { url: service.hook(answer(500)).url, breaker_policy });
    const { pending } = await given(api, { endpoint_id: profile.id, ...RETRIES });
    await waitForDue(api, pending.id, service.now + MINUTE);
    await patchedProfile(api, profile.id, { breaker_policy: null });
    expect(await windowOf(service, pending.id, 1)).toBe(20);
    expect(await windowOf(service, pending.id, 2)).toBe(40);
    expect(await windowOf(service, pending.id, 3)).toBe(60);
    await service.end();
  });
});

describe('timeouts', CONCURRENT_SERVICES, () => {
  it('an attempt times out after 30 seconds, unless the endpoint profile sets another timeout', async ({
    onTestFinished,
  }) => {
    const factor = 20;
    await using receiver = await startReceiver();
    const sched = await startWithFastTimers(factor);
    onTestFinished(async () => void (await sched.stop()));
    const api = Api.at(() => sched.url).as(TEST_KEY);
    const target = receiver.hook(hang(), answer(200));
    const { pending } = await given(api, { endpoint: target.url, retry_policy: { base: '10ms' } });
    await waitUntil(api, pending.id, ({ attempt_count }) => attempt_count > 1);
    const { attempts } = await waitForEnd(api, pending.id);
    expect(attempts).toMatchObject([
      { outcome: 'retryable', status_code: null, error: expect.stringMatching(/time/i) },
      { outcome: 'success' },
    ]);
    expect(attempts[0]?.egress_ms).toBeGreaterThanOrEqual((30 * SECOND) / factor);
    expect(attempts[0]?.egress_ms).toBeLessThan((60 * SECOND) / factor);
  });
});
