/**
 * The service's clock is set an hour ahead and back while deliveries wait and requests are in flight. By that
 * clock nothing is early, nothing is lost, and no occurrence is sent twice. Whatever is due goes out, because
 * timers notice that the clock was set.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { temporaryDirectory } from '#test/process/sched-process.ts';
import { ServiceClock } from '#test/process/service-clock.ts';
import { startReceiver } from '#test/receiver/receiver.ts';
import { type Audit, audit } from './audit.ts';
import { ANSWER_AT_ONCE, Ledger } from './ledger.ts';
import { OneShots } from './one-shots.ts';
import { RetryingClient } from './retrying-client.ts';
import { startService } from './service.ts';
import { UNFINISHED, waitUntilNone } from './stored.ts';

const HOUR_MS = 3_600_000;
const DELAY_MS = 1_000;
const RECURRING = 3;
/** One occurrence for each step ahead, and the minutes that pass on the way. */
const OCCURRENCES_MAX = 4;
/** Catching up takes about a second on a busy machine. A timer that misses a step takes a minute. */
const CATCH_UP_MS = 5_000;
const STILL_MS = 1_200;
const DRAIN_MS_MAX = 30_000;

export interface ClockReport extends Audit {
  /** Real milliseconds from a step ahead until everything that it made due had arrived. */
  readonly caughtUpMs: readonly number[];
  /** Real milliseconds from the creation, due in a second, until all had arrived, after each step. */
  readonly afterStepMs: Readonly<Record<string, number>>;
  readonly occurrences: readonly number[];
}

export async function runClockSteps(count: number): Promise<ClockReport> {
  const dataDir = temporaryDirectory();
  const clock = new ServiceClock();
  await using receiver = await startReceiver();
  const ledger = new Ledger(clock.now);
  const client = new RetryingClient();
  const oneShots = new OneShots({ client, receiver, ledger });
  await using sched = await startService(dataDir, { env: clock.env });
  client.open(sched.url);
  const faults: string[] = [];
  const caughtUpMs: number[] = [];
  const afterStepMs: Record<string, number> = {};
  const group = (name: string, delay: string, afterMs = 0) =>
    oneShots.group({ name, count, body: () => ({ delay }), plan: () => ({ ...ANSWER_AT_ONCE, afterMs }) });
  const firesSoon = async (when: string) => {
    const start = performance.now();
    const soon = await group(when, `${DELAY_MS}ms`);
    await soon.allArrived();
    const ms = performance.now() - start;
    afterStepMs[when] = ms;
    if (ms > DELAY_MS + CATCH_UP_MS)
      faults.push(`${when}: due in a second, arrived after ${Math.round(ms)} ms`);
  };

  const recurring = await oneShots.group({
    name: 'recurring',
    count: RECURRING,
    body: () => ({ cron: '* * * * *' }),
    plan: () => ANSWER_AT_ONCE,
  });
  const inHalfAnHour = await group('half-an-hour', '30m');
  const inFlight = await group('under-way-ahead', `${DELAY_MS}ms`, 1_000);
  await inFlight.allArrived();
  await clock.stepTo(HOUR_MS, sched);
  caughtUpMs.push(await inHalfAnHour.allArrived());
  await firesSoon('an-hour-ahead');

  const waiting = await group('waiting', '20s');
  const retrying = await oneShots.group({
    name: 'retrying',
    count,
    body: () => ({ delay: `${DELAY_MS}ms`, retry_policy: { base: '3s', factor: 1 } }),
    plan: (_, attemptNo) => ({ status: attemptNo === 1 ? 500 : 200, afterMs: 0 }),
  });
  await retrying.allArrived();
  const inFlightBack = await group('under-way-back', `${DELAY_MS}ms`, 1_000);
  await inFlightBack.allArrived();
  const before = { waiting: waiting.arrived(), retrying: retrying.arrived(), recurring: recurring.arrived() };
  await clock.stepTo(0, sched);
  await firesSoon('back');
  await clock.stepTo(-HOUR_MS, sched);
  await firesSoon('another-hour-back');
  await sleep(STILL_MS);
  const after = { waiting: waiting.arrived(), retrying: retrying.arrived(), recurring: recurring.arrived() };
  if (JSON.stringify(after) !== JSON.stringify(before)) {
    faults.push(`early after a step back: ${JSON.stringify(before)} became ${JSON.stringify(after)}`);
  }
  await clock.stepTo(HOUR_MS + 60_000, sched);
  caughtUpMs.push(await waiting.allArrived(), await retrying.allArrived(2 * count));

  await waitUntilNone(dataDir, UNFINISHED, DRAIN_MS_MAX);
  client.close();
  const { code } = await sched.stop();
  const result = audit({
    dataDir,
    acknowledged: oneShots.acknowledged,
    received: ledger.received,
    isClockSteady: false,
  });
  const occurrences = recurring.ids.map(
    (id) =>
      result.stored.deliveries.filter((each) => each.schedule_id === id && each.status === 'succeeded')
        .length,
  );
  return {
    ...result,
    faults: [
      ...result.faults,
      ...faults,
      ...(code === 0 ? [] : [`exit code ${code}`]),
      ...caughtUpMs.filter((ms) => ms > CATCH_UP_MS).map((ms) => `caught up only after ${Math.round(ms)} ms`),
      ...occurrences
        .filter((n) => n < 2 || n > OCCURRENCES_MAX)
        .map((n) => `a recurring one fired ${n} times`),
    ],
    caughtUpMs,
    afterStepMs,
    occurrences,
  };
}
