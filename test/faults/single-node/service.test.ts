/**
 * Faults of a service that sends: it is stopped or frozen, its clock is set, or its writer crashes. Each test
 * has its own service, data directory and receiver. The tests run concurrently, because they mostly wait.
 */
import { describe, expect, test } from 'vitest';
import { runClockSteps } from './clock-steps.ts';
import { runFrozen } from './frozen.ts';
import { formatSpread } from './numbers.ts';
import { runStops } from './stops.ts';
import { runWriterCrash } from './store-faults.ts';

const STOPS = 2;
const FROZEN_MS = 3_000;
const SEED = 815;
const COUNT = 20;

describe.concurrent('SIGTERM under load', () => {
  test(`attempts in flight finish, and nothing is interrupted or sent twice, in ${STOPS} stops`, async () => {
    const { faults, figures, exitMs } = await runStops({ stops: STOPS, seed: SEED, clients: 4 });
    console.log(`stops: ${JSON.stringify(figures)}, exits after ${exitMs.map(Math.round).join()} ms`);
    expect(faults).toEqual([]);
    expect(figures.succeeded).toBeGreaterThan(20);
    expect(figures).toMatchObject({ lost: 0, interrupted: 0, duplicates: 0 });
  });
});

describe.concurrent('the time jumps for the service', () => {
  test('a frozen process loses nothing, sends nothing early and catches up at once', async () => {
    const report = await runFrozen({ frozenMs: FROZEN_MS, seed: SEED, clients: 4 });
    const { faults, figures, dueMeanwhile, afterwards } = report;
    console.log(`frozen: ${JSON.stringify(figures)}, after SIGCONT ${formatSpread(afterwards)}`);
    expect(faults).toEqual([]);
    expect(figures).toMatchObject({ lost: 0, interrupted: 0 });
    expect(dueMeanwhile).toBeGreaterThan(10);
    expect(afterwards.max).toBeLessThan(5_000);
  });

  test('a clock set an hour ahead and back loses nothing, and sends nothing twice or early', async () => {
    const { faults, figures, caughtUpMs, occurrences } = await runClockSteps(10);
    console.log(
      `clock steps: ${JSON.stringify(figures)}, caught up in ${caughtUpMs.map(Math.round).join()} ms, ` +
        `occurrences ${occurrences.join()}`,
    );
    expect(faults).toEqual([]);
    expect(figures).toMatchObject({ lost: 0, interrupted: 0, duplicates: 0, timeouts: 0 });
  });
});

describe.concurrent('the store fails while deliveries are due and others are in flight', () => {
  test('after a crash of the writer thread and a stop, the next start finds everything', async () => {
    const { faults, figures, readiness, sentMeanwhile } = await runWriterCrash('crash-after-commit', COUNT);
    expect(faults).toEqual([]);
    expect(sentMeanwhile).toBe(0);
    expect(readiness).not.toBe(200);
    expect(figures).toMatchObject({ succeeded: 2 * COUNT, lost: 0 });
    expect(figures.duplicates).toBeLessThanOrEqual(figures.interrupted);
  });
});
