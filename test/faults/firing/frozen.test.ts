import { expect, test } from 'vitest';
import { runFrozen } from './frozen.ts';
import { shown } from './numbers.ts';

const FROZEN_MS = 3_000;
const SEED = 99;

test('a process that stood still loses nothing, fires nothing early and catches up at once', async () => {
  const { faults, figures, dueMeanwhile, afterwards } = await runFrozen({
    frozenMs: FROZEN_MS,
    seed: SEED,
    clients: 6,
  });
  console.log(`seed ${SEED}: ${JSON.stringify(figures)}, after SIGCONT ${shown(afterwards)}`);
  expect(faults).toEqual([]);
  expect(figures).toMatchObject({ lost: 0, interrupted: 0 });
  expect(dueMeanwhile).toBeGreaterThan(20);
  expect(afterwards.max).toBeLessThan(FROZEN_MS);
});
