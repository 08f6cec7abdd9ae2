/**
 * The clock of the service is set an hour ahead and back while deliveries wait and are under way. By its own
 * clock nothing is early, nothing is lost and no occurrence doubled; and whatever the clock says, what is due
 * goes out: timers do not sleep through a clock that was set.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { temporaryDirectory } from '#test/process/sched-process.ts';
import { ServiceClock } from '#test/process/service-clock.ts';
import { startReceiver } from '#test/receiver/receiver.ts';
import { type Audit, audit } from './audit.ts';
import { Gateway } from './gateway.ts';
import { AT_ONCE, Ledger } from './ledger.ts';
import { startFiring } from './service.ts';
import { Shots } from './shots.ts';
import { noneLeft, UNFINISHED } from './stored.ts';

const HOUR_MS = 3_600_000;
const DELAY_MS = 1_000;
const RECURRING = 3;
/** One for each step ahead, and the minutes that go by on the way. */
const OCCURRENCES_MAX = 4;
/** A second or so, on a machine that has other things to do; a timer that slept through a step takes a minute. */
const CATCH_UP_MS = 5_000;
const STILL_MS = 1_200;
const DRAIN_MS_MAX = 30_000;

export interface ClockReport extends Audit {
  /** Real ms from a step ahead until all that it made due had arrived. */
  readonly caughtUpMs: readonly number[];
  /** Real ms from creating until all had arrived, due in a second, after each step. */
  readonly afterStepMs: Readonly<Record<string, number>>;
  readonly occurrences: readonly number[];
}

export async function runClockSteps(count: number): Promise<ClockReport> {
  const dataDir = temporaryDirectory();
  const clock = new ServiceClock();
  await using receiver = await startReceiver();
  const ledger = new Ledger(clock.now);
  const gateway = new Gateway();
  const shots = new Shots({ gateway, receiver, ledger });
  await using sched = await startFiring(dataDir, { env: clock.env });
  gateway.open(sched.url);
  const faults: string[] = [];
  const caughtUpMs: number[] = [];
  const afterStepMs: Record<string, number> = {};
  const group = (name: string, delay: string, afterMs = 0) =>
    shots.group({ name, count, body: () => ({ delay }), plan: () => ({ ...AT_ONCE, afterMs }) });
  const firesSoon = async (when: string) => {
    const start = performance.now();
    const soon = await group(when, `${DELAY_MS}ms`);
    await soon.allArrived();
    const ms = performance.now() - start;
    afterStepMs[when] = ms;
    if (ms > DELAY_MS + CATCH_UP_MS)
      faults.push(`${when}: due in a second, arrived after ${Math.round(ms)} ms`);
  };

  const recurring = await shots.group({
    name: 'recurring',
    count: RECURRING,
    body: () => ({ cron: '* * * * *' }),
    plan: () => AT_ONCE,
  });
  const inHalfAnHour = await group('half-an-hour', '30m');
  const underWay = await group('under-way-ahead', `${DELAY_MS}ms`, 1_000);
  await underWay.allArrived();
  await clock.stepTo(HOUR_MS, sched);
  caughtUpMs.push(await inHalfAnHour.allArrived());
  await firesSoon('an-hour-ahead');

  const waiting = await group('waiting', '20s');
  const retrying = await shots.group({
    name: 'retrying',
    count,
    body: () => ({ delay: `${DELAY_MS}ms`, retry_policy: { base: '3s', factor: 1 } }),
    plan: (_, attemptNo) => ({ status: attemptNo === 1 ? 500 : 200, afterMs: 0 }),
  });
  await retrying.allArrived();
  const underWayBack = await group('under-way-back', `${DELAY_MS}ms`, 1_000);
  await underWayBack.allArrived();
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

  await noneLeft(dataDir, UNFINISHED, DRAIN_MS_MAX);
  gateway.close();
  const { code } = await sched.stop();
  const result = audit({
    dataDir,
    acknowledged: shots.acknowledged,
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
