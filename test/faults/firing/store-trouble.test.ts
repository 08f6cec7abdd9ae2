import { describe, expect, test } from 'vitest';
import { runDyingWriter, runStoreTrouble } from './store-trouble.ts';

const COUNT = 20;

describe('the store fails while deliveries are due and others are under way', () => {
  test.concurrent('nothing is written: nothing is sent, and outcomes are settled when there is room again', async () => {
    const report = await runStoreTrouble('refusing', COUNT);
    expect(report.faults).toEqual([]);
    expect(report).toMatchObject({ readiness: 503, sentMeanwhile: 0, underWayAgain: 0 });
    expect(report.figures).toMatchObject({ succeeded: 2 * COUNT, attempts: 2 * COUNT, interrupted: 0 });
  });

  test.concurrent('the file may not grow: what is sent is stored, the rest goes out when there is room again', async () => {
    const { faults, figures, underWayAgain } = await runStoreTrouble('full', COUNT);
    expect(faults).toEqual([]);
    expect(underWayAgain).toBe(0);
    expect(figures).toMatchObject({ succeeded: 2 * COUNT, attempts: 2 * COUNT, interrupted: 0 });
  });

  test.concurrent('claims are stored and seem to fail: none is sent, all are closed and tried again', async () => {
    const { faults, figures, sentMeanwhile, underWayAgain } = await runStoreTrouble('lying', COUNT);
    expect(faults).toEqual([]);
    expect({ sentMeanwhile, underWayAgain }).toEqual({ sentMeanwhile: 0, underWayAgain: 0 });
    expect(figures).toMatchObject({
      succeeded: 2 * COUNT,
      received: 2 * COUNT,
      interruptedSeen: 0,
      doubles: 0,
    });
    expect(figures.interrupted).toBeGreaterThanOrEqual(COUNT);
  });

  test.concurrent('the writing thread ends: nothing is sent any more, and a restart finds everything', async () => {
    const { faults, figures, readiness, sentMeanwhile } = await runDyingWriter('dying late', COUNT);
    expect(faults).toEqual([]);
    expect(sentMeanwhile).toBe(0);
    expect(readiness).not.toBe(200);
    expect(figures).toMatchObject({ succeeded: 2 * COUNT, lost: 0 });
    expect(figures.doubles).toBeLessThanOrEqual(figures.interrupted);
  });
});
