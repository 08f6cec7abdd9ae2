/** In which stretches letters are opened. What is in them is told by the tests of the composer. */
import { expect, test } from 'vitest';
import type { Delivery } from '#src/domain/delivery.ts';
import type { Vault } from '#src/ports/vault.ts';
import { EngineTestWorld } from '#test/engine-world.ts';
import { Letters, STRETCH_BYTES_MAX } from './letters.ts';

/** How many letters with bodies of these sizes are opened before everything else gets a word in, each time. */
async function stretches(bodyBytes: readonly number[]): Promise<readonly number[]> {
  await using world = await EngineTestWorld.open();
  const { store, log, time } = world;
  const deliveries: Delivery[] = [];
  for (const bytes of bodyBytes) {
    deliveries.push((await world.schedule({ payload: { body: 'x'.repeat(bytes) } })).pending);
  }
  const opened: number[] = [0];
  const vault: Vault = {
    seal: (context, plain) => world.vault.seal(context, plain),
    open(context, sealed) {
      opened.push((opened.pop() ?? 0) + 1);
      return world.vault.open(context, sealed);
    },
  };
  const timers = {
    after(ms: number, act: () => void) {
      opened.push(0);
      return time.after(ms, act);
    },
  };
  const reading = new Letters({ store, log, vault, timers }).read(deliveries);
  await time.advance(0);
  const bodies = (await reading).map((letter) => (letter.kind === 'letter' ? letter.body?.length : null));
  expect(bodies).toEqual(bodyBytes);
  return opened;
}

test('small letters are opened in one stretch', async () => {
  expect(await stretches(Array.from({ length: 64 }, () => 1_024))).toEqual([64]);
});

test('large ones are opened a few at a time, in their order', async () => {
  expect(await stretches([100_000, 100_000, 100_000, 10, 100_000, 100_000])).toEqual([2, 3, 1]);
});

test('one that is larger than a stretch has one to itself', async () => {
  const huge = 2 * STRETCH_BYTES_MAX;
  expect(await stretches([huge, huge, 10])).toEqual([1, 1, 1]);
});
