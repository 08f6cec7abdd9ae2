/**
 * The process stops or crashes, and another continues its work. Nothing is lost. A request is sent twice only
 * if it was interrupted, and then with the same Idempotency-Key.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Api } from '#test/e2e/client.ts';
import {
  attemptsOf,
  createdProfile,
  deliveriesOf,
  delivery,
  MINUTE,
  ms,
  ordered,
  rescheduled,
  schedule,
} from '#test/e2e/expectations.ts';
import { type RunningService, startCheapest } from '#test/process/run-command.ts';
import { type SchedProcess, temporaryDirectory } from '#test/process/sched-process.ts';
import { CLOCK_OFF_MS_MAX } from '#test/process/store-in-use.ts';
import { answer, type Behaviour, hang, held } from '#test/receiver/behaviours.ts';
import { type Hook, headerOf, type Receiver, startReceiver } from '#test/receiver/receiver.ts';
import { audit } from './audit.ts';
import {
  CONCURRENT_SERVICES,
  expectNoSecrets,
  given,
  SETTINGS,
  SIGNING_SECRET,
  startService,
  TEST_KEY,
} from './harness.ts';
import { sleep, waitForDue, waitForEnd, waitForStatus } from './waits.ts';

const OPENED_BY_ONE = { threshold: 1, base_open: '10m', max_open: '1h', probe_timeout: '10m' };

let receiver: Receiver;
beforeAll(async () => {
  receiver = await startReceiver();
});
afterAll(() => receiver[Symbol.asyncDispose]());

/**
 * One data directory, and the services that run on it one after the other. A process gets the signal. The service
 * that continues its work runs in the thread of the tests, which costs less.
 */
class RestartableService implements AsyncDisposable {
  readonly #dataDir = temporaryDirectory();
  readonly #env: Readonly<Record<string, string>>;
  #sched: RunningService | null = null;
  readonly #hooks: Hook[] = [];
  readonly api = Api.at(() => this.sched.url).as(TEST_KEY);

  constructor(env: Readonly<Record<string, string>> = {}) {
    this.#env = env;
  }

  get sched(): RunningService {
    if (this.#sched === null) throw new Error('The service is not running.');
    return this.#sched;
  }

  hook(...script: readonly Behaviour[]): Hook {
    const hook = receiver.hook(...script);
    this.#hooks.push(hook);
    return hook;
  }

  async start(): Promise<void> {
    this.#sched = await startCheapest({ dataDir: this.#dataDir, env: { ...SETTINGS, ...this.#env } });
  }

  async startProcess(): Promise<SchedProcess> {
    const process = await startService(this.#dataDir, this.#env);
    this.#sched = process;
    return process;
  }

  async stop(): Promise<void> {
    expect((await this.sched.stop()).code).toBe(0);
    expectNoSecrets(this.sched.output, [SIGNING_SECRET]);
  }

  /** Audits every request of this test. */
  audit(): Promise<void> {
    return audit(
      [this.api],
      this.#hooks.flatMap(({ requests }) => requests),
      [SIGNING_SECRET],
    );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#sched?.stop();
  }
}

describe('downtime', CONCURRENT_SERVICES, () => {
  it('deliveries that became due are sent once, those past their deadline expire, and the rest is unchanged', async () => {
    await using service = new RestartableService();
    await service.start();
    const { api } = service;
    const retried = service.hook(answer(500), answer(200));
    const broken = service.hook(answer(500));
    const profile = await createdProfile(api, {
      url: broken.url,
      breaker_policy: OPENED_BY_ONE,
    });
    const [retrying, opening] = await Promise.all([
      given(api, { endpoint: retried.url, retry_policy: { base: '700ms', factor: 1 } }),
      given(api, { endpoint_id: profile.id, retry_policy: { base: '1s', factor: 1 } }),
    ]);
    await waitForStatus(api, opening.pending.id, 'retry_scheduled');
    await waitForStatus(api, retrying.pending.id, 'retry_scheduled');

    const hooks = {
      overdue: service.hook(),
      expired: service.hook(),
      paused: service.hook(),
      canceled: service.hook(),
    };
    const [overdue, expired, paused, canceled, guarded] = await Promise.all([
      given(api, { endpoint: hooks.overdue.url, ttl: '1h', delay: '3s' }),
      given(api, { endpoint: hooks.expired.url, ttl: '100ms', delay: '3s' }),
      given(api, { endpoint: hooks.paused.url }),
      given(api, { endpoint: hooks.canceled.url }),
      given(api, { endpoint_id: profile.id }),
    ]);
    await ordered(api, paused.id, 'pause');
    await ordered(api, canceled.id, 'cancel');
    await service.stop();
    await sleep(ms(overdue.pending.scheduled_for) - Date.now() + 450);
    expect(receiver.requests.filter(({ path }) => path === hooks.overdue.path)).toEqual([]);
    const startedAt = Date.now();
    await service.start();

    const late = await waitForEnd(api, overdue.pending.id);
    expect(late.delivery).toMatchObject({
      status: 'succeeded',
      scheduled_for: overdue.pending.scheduled_for,
    });
    expect(late.attempts).toMatchObject([{ due_at: overdue.pending.scheduled_for }]);
    expect(late.attempts[0]?.lateness_ms).toBeGreaterThanOrEqual(
      startedAt - ms(overdue.pending.scheduled_for),
    );

    const never = await waitForEnd(api, expired.pending.id);
    expect(never.delivery).toMatchObject({ status: 'expired', attempt_count: 0, last_status_code: null });
    expect(never.attempts).toEqual([]);
    expect((await schedule(api, expired.id)).state).toBe('completed');

    expect((await waitForEnd(api, retrying.pending.id)).delivery).toMatchObject({
      status: 'succeeded',
      attempt_count: 2,
    });
    expect(headerOf(await retried.arrived(2), 'Sched-Attempt')).toBe('2');

    // The breaker was open and still is, so the delivery is deferred to the end of its window.
    const [failed] = await attemptsOf(api, opening.pending.id);
    const openUntil = ms(failed?.finished_at) + 600_000;
    const defer = await waitForDue(api, guarded.pending.id, openUntil);
    expect(defer).toMatchObject({ status: 'scheduled', attempt_count: 0 });
    expect(ms(defer.next_fire_at) - openUntil).toBeLessThan(1_000);

    await sleep(300);
    expect((await delivery(api, paused.pending.id)).status).toBe('paused');
    expect((await delivery(api, canceled.pending.id)).status).toBe('canceled');
    const counts = Object.values(hooks).map(({ requests }) => requests.length);
    expect([...counts, retried.requests.length, broken.requests.length]).toEqual([1, 0, 0, 0, 2, 1]);
    await service.audit();
  });
});

describe('SIGTERM', CONCURRENT_SERVICES, () => {
  it('a request in flight is finished and settled, and later deliveries are left to the next start', async () => {
    await using service = new RestartableService();
    const process = await service.startProcess();
    const { api } = service;
    const gate = held(answer(202));
    const target = service.hook(gate);
    const other = service.hook();
    const [sent, waiting] = await Promise.all([
      given(api, { endpoint: target.url }),
      given(api, { endpoint: other.url, delay: '6s' }),
    ]);
    await target.arrived();
    process.signal('SIGTERM');
    await process.said(/"msg":"stopping"/);
    await sleep(ms(waiting.pending.scheduled_for) - Date.now() + 200);
    expect(other.requests).toEqual([]);
    gate.release();
    expect(await process.exited).toEqual({ code: 0, signal: null });

    await service.start();
    const { delivery, attempts } = await waitForEnd(api, sent.pending.id);
    expect(delivery).toMatchObject({ status: 'succeeded', last_status_code: 202, attempt_count: 1 });
    expect(attempts).toMatchObject([{ outcome: 'success', error: null }]);
    await waitForStatus(api, waiting.pending.id, 'succeeded');
    expect([target.requests.length, other.requests.length]).toEqual([1, 1]);
    await service.audit();
  });

  it('requests that outlast the grace period are closed as interrupted before the exit, and retried after the start', async () => {
    await using service = new RestartableService({ SCHED_SHUTDOWN_GRACE: '300ms' });
    const process = await service.startProcess();
    const { api } = service;
    const target = service.hook(hang(), answer(200));
    const several = service.hook(...Array.from({ length: 4 }, () => hang()), answer(200));
    const { id } = await createdProfile(api, { url: target.url, breaker_policy: OPENED_BY_ONE });
    const retry_policy = { base: '50ms', factor: 1 };
    const [{ pending }, ...others] = await Promise.all([
      given(api, { endpoint_id: id, retry_policy }),
      ...Array.from({ length: 4 }, () => given(api, { endpoint: several.url, retry_policy })),
    ]);
    await target.arrived();
    await several.arrived(4);
    const signalAt = performance.now();
    process.signal('SIGTERM');
    expect(await process.exited).toEqual({ code: 0, signal: null });
    const exitedAt = Date.now();
    expect(performance.now() - signalAt).toBeGreaterThanOrEqual(300);
    expectNoSecrets(process.output, [SIGNING_SECRET]);
    expect(target.requests).toHaveLength(1);

    await service.start();
    // The breaker did not count it, because one failure would have opened it.
    const { delivery, attempts } = await waitForEnd(api, pending.id);
    expect(delivery).toMatchObject({ status: 'succeeded', attempt_count: 2 });
    expect(attempts).toMatchObject([
      { outcome: 'retryable', status_code: null, error: 'interrupted', finished_at: expect.any(String) },
      { outcome: 'success' },
    ]);
    // The stopping process closed them, not the next one.
    expect(ms(attempts[0]?.finished_at)).toBeLessThanOrEqual(exitedAt + CLOCK_OFF_MS_MAX);
    for (const other of others) {
      const { attempts: both } = await waitForEnd(api, other.pending.id);
      expect(both).toMatchObject([{ error: 'interrupted' }, { outcome: 'success' }]);
      expect(ms(both[0]?.finished_at)).toBeLessThanOrEqual(exitedAt + CLOCK_OFF_MS_MAX);
    }
    expect([target.requests.length, several.requests.length]).toEqual([2, 8]);
    await service.audit();
  });
});

describe('SIGKILL while deliveries are being sent', CONCURRENT_SERVICES, () => {
  it('the attempt is closed as interrupted, retried with the same key, and counts towards max_attempts', async () => {
    await using service = new RestartableService();
    const process = await service.startProcess();
    const { api } = service;
    const retried = service.hook(hang(), answer(200));
    const only = service.hook(hang());
    const short = service.hook(hang());
    const recurring = service.hook(hang(), answer(200));
    const guarded = service.hook(hang(), answer(200));
    const soon = { base: '50ms', factor: 1 };
    const profile = await createdProfile(api, {
      url: guarded.url,
      breaker_policy: OPENED_BY_ONE,
    });
    const broken = service.hook(answer(500));
    const brokenProfile = await createdProfile(api, { url: broken.url, breaker_policy: OPENED_BY_ONE });
    const opening = await given(api, { endpoint_id: brokenProfile.id, retry_policy: soon });
    const yearly = await given(api, { endpoint: recurring.url, cron: '0 0 1 1 *', retry_policy: soon });
    await rescheduled(api, yearly.id, { delay: '1s' });
    const [first, second, third, fourth] = await Promise.all([
      given(api, { endpoint: retried.url, retry_policy: soon, idempotency_key: 'kill-9' }),
      given(api, { endpoint: only.url, retry_policy: { max_attempts: 1 } }),
      given(api, { endpoint: short.url, ttl: '30m', retry_policy: { base: '1h', factor: 1 } }),
      given(api, { endpoint_id: profile.id, retry_policy: soon }),
    ]);
    const storm = await Promise.all(
      Array.from({ length: 60 }, async (_, i) => {
        const target = service.hook();
        const delay = `${1_000 + (i % 20) * 20}ms`;
        return { target, ...(await given(api, { endpoint: target.url, delay, retry_policy: soon })) };
      }),
    );
    for (const target of [retried, only, short, recurring, guarded]) await target.arrived();
    await storm[0]?.target.arrived();
    const { next_fire_at: openUntil } = await waitForDue(api, opening.pending.id, Date.now() + MINUTE);
    const [open] = await attemptsOf(api, first.pending.id);
    expect(open).toMatchObject({ outcome: 'retryable', finished_at: null });
    await process.kill();
    await service.start();

    const { delivery, attempts } = await waitForEnd(api, first.pending.id);
    expect(delivery).toMatchObject({ status: 'succeeded', attempt_count: 2, idempotency_key: 'kill-9' });
    expect(attempts[0]).toEqual({
      ...open,
      finished_at: expect.any(String),
      egress_ms: expect.any(Number),
      error: 'interrupted',
    });
    expect(ms(attempts[1]?.due_at) - ms(attempts[0]?.finished_at)).toBe(50);
    const keys = [await retried.arrived(1), await retried.arrived(2)].map((each) =>
      headerOf(each, 'Idempotency-Key'),
    );
    expect(keys).toEqual(['kill-9', 'kill-9']);
    expect(headerOf(await retried.arrived(2), 'Sched-Attempt')).toBe('2');

    expect((await waitForEnd(api, second.pending.id)).delivery).toMatchObject({
      status: 'dead_letter',
      attempt_count: 1,
      error: 'interrupted',
    });
    expect((await waitForEnd(api, third.pending.id)).delivery).toMatchObject({
      status: 'expired',
      attempt_count: 1,
    });
    // The breaker did not count it, because one failure would have opened it.
    expect((await waitForEnd(api, fourth.pending.id)).delivery).toMatchObject({
      status: 'succeeded',
      attempt_count: 2,
    });

    await waitForStatus(api, yearly.pending.id, 'succeeded');
    const statuses = (await deliveriesOf(api, yearly.id)).map(({ status }) => status);
    expect(statuses).toEqual(['scheduled', 'succeeded']);
    const counts = [retried, only, short, recurring, guarded].map(({ requests }) => requests.length);
    expect(counts).toEqual([2, 1, 1, 2, 2]);

    // An open breaker is still open after the restart.
    const defer = await given(api, { endpoint_id: brokenProfile.id });
    expect((await waitForDue(api, defer.pending.id, ms(openUntil))).next_fire_at).toBe(openUntil);
    expect(broken.requests).toHaveLength(1);

    // None of the deliveries in flight at that moment is lost.
    for (const { target, pending } of storm) {
      const done = await waitForStatus(api, pending.id, 'succeeded');
      expect([1, 2]).toContain(target.requests.length);
      expect(target.requests.length).toBeLessThanOrEqual(done.attempt_count);
    }
    await service.audit();
  });
});
