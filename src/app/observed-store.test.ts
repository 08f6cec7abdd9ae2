import { expect, test } from 'vitest';
import { StoreUnavailable } from '#src/ports/store.ts';
import type { Metrics } from '#src/ports/telemetry.ts';
import { openControlHarness } from '#test/process/control-harness.ts';
import { observedStore } from './observed-store.ts';

interface Observed {
  readonly verb: string;
  readonly outcome: string;
  readonly seconds: number;
}

function recordMetrics(): { readonly seen: Observed[]; readonly metrics: Metrics } {
  const seen: Observed[] = [];
  return {
    seen,
    metrics: {
      requestServed: () => {},
      storeVerb: (verb, outcome, seconds) => seen.push({ verb, outcome, seconds }),
    },
  };
}

test('each verb returns the answer of the store, and is measured under its name', async () => {
  await using harness = await openControlHarness();
  const { seen, metrics } = recordMetrics();
  const store = observedStore(harness.store, metrics);
  await store.check(harness.clock.now());
  expect(await store.findProject('nowhere')).toBeNull();
  expect(seen).toMatchObject([
    { verb: 'check', outcome: 'ok' },
    { verb: 'findProject', outcome: 'ok' },
  ]);
  for (const { seconds } of seen) expect(seconds).toBeGreaterThan(0);
});

test('a verb that fails is counted as an error, and the caller gets the same error', async () => {
  const { seen, metrics } = recordMetrics();
  const failure = new StoreUnavailable('full');
  const store = observedStore({ check: () => Promise.reject(failure) }, metrics);
  await expect(store.check()).rejects.toBe(failure);
  expect(seen).toMatchObject([{ verb: 'check', outcome: 'error' }]);
});

test('a member that is not an asynchronous verb is not measured', () => {
  const { seen, metrics } = recordMetrics();
  const store = observedStore({ name: 'store', size: () => 3 }, metrics);
  expect(store.name).toBe('store');
  expect(store.size()).toBe(3);
  expect(seen).toEqual([]);
});
