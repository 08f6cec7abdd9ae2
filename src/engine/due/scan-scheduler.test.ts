import { expect, test } from 'vitest';
import { Engine } from '#src/engine/engine.ts';
import { EngineHarness, overridden } from '#test/engine-harness.ts';

test.for([
  ['one server', false, 22],
  ['many servers, which are asked less often', true, 10],
] as const)('without any hint, deliveries on %s are sent on time', async ([, worksByCustomer, scans]) => {
  await using harness = await EngineHarness.open();
  const store = overridden(harness.store, { worksByCustomer });
  await using _ = await runningEngine(overridden(harness, { store }));
  // No hint tells the engine about these.
  const schedules = await Promise.all(
    Array.from({ length: 40 }, (_, n) =>
      harness.schedule({ inMs: 4_000 + 100 * n, url: `https://a.example/${n}` }),
    ),
  );
  const before = harness.faults.times('listDue');
  await harness.time.advance(9_000);
  expect(harness.egress.sent.map(({ at }) => at)).toEqual(schedules.map(({ pending }) => pending.dueAt));
  expect(harness.faults.times('listDue') - before).toBeLessThanOrEqual(scans);
});

async function runningEngine(harness: EngineHarness): Promise<AsyncDisposable> {
  const engine = new Engine(harness, { retentionMs: 0 });
  await engine.start();
  return { [Symbol.asyncDispose]: () => engine.stop(0) };
}
