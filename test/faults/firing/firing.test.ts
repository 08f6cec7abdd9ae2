/**
 * Whatever happens to a service that fires: stopped, frozen, its clock set, its store failing. Each test has a
 * service, a data directory and a receiver of its own, and mostly waits: they wait for the same seconds.
 */
import { describe, expect, test } from 'vitest';
import { runClockSteps } from './clock-steps.ts';
import { runFrozen } from './frozen.ts';
import { shown } from './numbers.ts';
import { runHangingStop, runStops } from './stops.ts';
import { runDyingWriter, runStoreTrouble } from './store-trouble.ts';

const STOPS = 3;
const FROZEN_MS = 3_000;
const SEED = 815;
const COUNT = 20;

describe.concurrent('SIGTERM under load', () => {
  test(`what is under way is finished, nothing is interrupted or doubled, in ${STOPS} stops`, async () => {
    const { faults, figures, exitMs } = await runStops({ stops: STOPS, seed: SEED, clients: 4 });
    console.log(`stops: ${JSON.stringify(figures)}, exits after ${exitMs.map(Math.round).join()} ms`);
    expect(faults).toEqual([]);
    expect(figures.succeeded).toBeGreaterThan(50);
    expect(figures).toMatchObject({ lost: 0, interrupted: 0, doubles: 0 });
  });

  test('what hangs beyond the grace is closed as interrupted before the exit, and tried again', async () => {
    const { faults, figures, exitMs, hanging } = await runHangingStop(5);
    expect(faults).toEqual([]);
    expect(figures).toMatchObject({
      succeeded: hanging,
      interrupted: hanging,
      attempts: 2 * hanging,
      doubles: 0,
    });
    expect(exitMs).toBeGreaterThan(900);
    expect(exitMs).toBeLessThan(5_000);
  });
});

describe.concurrent('time goes another way than the service thinks', () => {
  test('a process that stood still loses nothing, fires nothing early and catches up at once', async () => {
    const report = await runFrozen({ frozenMs: FROZEN_MS, seed: SEED, clients: 4 });
    const { faults, figures, dueMeanwhile, afterwards } = report;
    console.log(`frozen: ${JSON.stringify(figures)}, after SIGCONT ${shown(afterwards)}`);
    expect(faults).toEqual([]);
    expect(figures).toMatchObject({ lost: 0, interrupted: 0 });
    expect(dueMeanwhile).toBeGreaterThan(10);
    expect(afterwards.max).toBeLessThan(5_000);
  });

  test('a clock set an hour ahead and back loses nothing, doubles nothing, and fires nothing early', async () => {
    const { faults, figures, caughtUpMs, occurrences } = await runClockSteps(10);
    console.log(
      `clock steps: ${JSON.stringify(figures)}, caught up in ${caughtUpMs.map(Math.round).join()} ms, ` +
        `occurrences ${occurrences.join()}`,
    );
    expect(faults).toEqual([]);
    expect(figures).toMatchObject({ lost: 0, interrupted: 0, doubles: 0, timeouts: 0 });
  });
});

describe.concurrent('the store fails while deliveries are due and others are under way', () => {
  test('nothing is written: nothing is sent, and outcomes are settled when there is room again', async () => {
    const report = await runStoreTrouble('refusing', COUNT);
    expect(report.faults).toEqual([]);
    expect(report).toMatchObject({ readiness: 503, sentMeanwhile: 0, underWayAgain: 0 });
    expect(report.figures).toMatchObject({ succeeded: 2 * COUNT, attempts: 2 * COUNT, interrupted: 0 });
  });

  test('the file may not grow: what is sent is stored, the rest goes out when there is room again', async () => {
    const { faults, figures, underWayAgain } = await runStoreTrouble('full', COUNT);
    expect(faults).toEqual([]);
    expect(underWayAgain).toBe(0);
    expect(figures).toMatchObject({ succeeded: 2 * COUNT, attempts: 2 * COUNT, interrupted: 0 });
  });

  test('claims are stored and seem to fail: none is sent, all are closed and tried again', async () => {
    const { faults, figures, sentMeanwhile, underWayAgain } = await runStoreTrouble('lying', COUNT);
    expect(faults).toEqual([]);
    expect({ sentMeanwhile, underWayAgain }).toEqual({ sentMeanwhile: 0, underWayAgain: 0 });
    expect(figures).toMatchObject({ succeeded: 2 * COUNT, received: 2 * COUNT, interruptedSeen: 0 });
    expect(figures.interrupted).toBeGreaterThanOrEqual(COUNT);
  });

  test('the writing thread ends again and again: everything goes on as soon as one lives', async () => {
    const { faults, figures, sentMeanwhile } = await runStoreTrouble('dying late', COUNT);
    expect(faults).toEqual([]);
    expect(sentMeanwhile).toBe(0);
    expect(figures).toMatchObject({ succeeded: 2 * COUNT, lost: 0 });
  });

  test('the writing thread ends and the service is stopped: the next start finds everything', async () => {
    const { faults, figures, readiness, sentMeanwhile } = await runDyingWriter('dying late', COUNT);
    expect(faults).toEqual([]);
    expect(sentMeanwhile).toBe(0);
    expect(readiness).not.toBe(200);
    expect(figures).toMatchObject({ succeeded: 2 * COUNT, lost: 0 });
    expect(figures.doubles).toBeLessThanOrEqual(figures.interrupted);
  });
});
