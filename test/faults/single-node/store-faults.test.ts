/**
 * The store of a service fails while deliveries are due and others are in flight. One service runs through all
 * faults, because each of them ends. The faults after which attempts are interrupted come last.
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { SchedProcess } from '#test/process/sched-process.ts';
import { runThroughStoreFault, StoreFaultScenario, type TemporaryStoreFault } from './store-faults.ts';

const COUNT = 20;

let scenario: StoreFaultScenario;
let sched: SchedProcess;
beforeAll(async () => {
  scenario = await StoreFaultScenario.open();
  sched = await scenario.start();
});
afterAll(() => scenario[Symbol.asyncDispose]());

function through(fault: TemporaryStoreFault, count: number) {
  return runThroughStoreFault(scenario, sched, fault, count);
}

test('while no commit succeeds nothing is sent, and outcomes are settled when there is space again', async () => {
  const report = await through('refusing', COUNT);
  expect(report.faults).toEqual([]);
  expect(report).toMatchObject({ readiness: 503, sentMeanwhile: 0, answeredAgain: 0 });
  expect(report.figures).toMatchObject({ succeeded: 2 * COUNT, attempts: 2 * COUNT, interrupted: 0 });
});

test('while the file cannot grow only stored attempts are sent, and the rest when there is space again', async () => {
  const { faults, figures, answeredAgain } = await through('full', COUNT);
  expect(faults).toEqual([]);
  expect(answeredAgain).toBe(0);
  expect(figures).toMatchObject({ succeeded: 2 * COUNT, attempts: 2 * COUNT, interrupted: 0 });
});

test('claims that are stored but report an error are not sent, but closed and retried', async () => {
  const { faults, figures, sentMeanwhile, answeredAgain } = await through('false-errors', COUNT);
  expect(faults).toEqual([]);
  expect({ sentMeanwhile, answeredAgain }).toEqual({ sentMeanwhile: 0, answeredAgain: 0 });
  expect(figures).toMatchObject({ succeeded: 2 * COUNT, received: 2 * COUNT, interruptedSeen: 0 });
  expect(figures.interrupted).toBeGreaterThanOrEqual(COUNT);
});

test('after repeated crashes of the writer thread everything continues as soon as one runs', async () => {
  const { faults, figures, sentMeanwhile } = await through('crash-after-commit', COUNT);
  expect(faults).toEqual([]);
  expect(sentMeanwhile).toBe(0);
  expect(figures).toMatchObject({ succeeded: 2 * COUNT, lost: 0 });
});

test('after all of them the service stops with exit code 0', async () => {
  expect(await sched.stop()).toEqual({ code: 0, signal: null });
});
