import { describe, expect, test } from 'vitest';
import type { Partition } from '#src/domain/partition.ts';
import { EngineTestWorld, PARTITION } from '#test/engine-world.ts';
import { SigningKeys } from './signing-keys.ts';

async function textsOf(keys: SigningKeys, partition: Partition = PARTITION): Promise<readonly string[]> {
  return (await keys.of(partition)).map((key) => key.export().toString('utf8'));
}

describe('the secrets that sign', () => {
  test("are the partition's, each the UTF-8 bytes of its whole text, the newest first", async () => {
    await using world = await EngineTestWorld.open();
    await world.secret('whsec_älter');
    await world.time.advance(1);
    await world.secret('whsec_newer');
    const keys = new SigningKeys(world);
    expect(await textsOf(keys)).toEqual(['whsec_newer', 'whsec_älter']);
    expect(await textsOf(keys, 2 as Partition)).toEqual(['whsec_of_the_neighbour']);
  });

  test('are read again when they are a second old: so fast a rotation counts', async () => {
    await using world = await EngineTestWorld.open();
    await world.secret('whsec_old');
    const keys = new SigningKeys(world);
    expect(await textsOf(keys)).toEqual(['whsec_old']);
    await world.secret('whsec_new');
    await world.time.advance(999);
    expect(await textsOf(keys)).toEqual(['whsec_old']);
    await world.time.advance(1);
    expect(await textsOf(keys)).toEqual(['whsec_new', 'whsec_old']);
    expect(world.faults.times('listSecrets')).toBe(2);
  });

  test('stop signing to the millisecond, also while they are kept', async () => {
    await using world = await EngineTestWorld.open();
    await world.secret('whsec_old');
    await world.secret('whsec_new', 500);
    const keys = new SigningKeys(world);
    await world.time.advance(499);
    expect(await textsOf(keys)).toEqual(['whsec_new', 'whsec_old']);
    await world.time.advance(1);
    expect(await textsOf(keys)).toEqual(['whsec_new']);
    expect(world.faults.times('listSecrets')).toBe(1);
  });

  test('are read once for all that ask at the same time', async () => {
    await using world = await EngineTestWorld.open();
    await world.secret('whsec_a');
    const keys = new SigningKeys(world);
    await Promise.all(Array.from({ length: 20 }, () => keys.of(PARTITION)));
    expect(world.faults.times('listSecrets')).toBe(1);
  });

  test.for([-3_600_000, 3_600_000])('are read again when the clock is set by %i ms', async (byMs) => {
    await using world = await EngineTestWorld.open();
    await world.secret('whsec_old');
    const keys = new SigningKeys(world);
    await keys.of(PARTITION);
    await world.secret('whsec_new');
    world.time.setClock(byMs);
    expect(await textsOf(keys)).toEqual(['whsec_new', 'whsec_old']);
  });

  test('sign again when a clock that was ahead is set back before their end', async () => {
    await using world = await EngineTestWorld.open();
    await world.secret('whsec_old');
    await world.secret('whsec_new', 60_000);
    const keys = new SigningKeys(world);
    world.time.setClock(60_000);
    expect(await textsOf(keys)).toEqual(['whsec_new']);
    world.time.setClock(-60_000);
    expect(await textsOf(keys)).toEqual(['whsec_new', 'whsec_old']);
  });

  test('are asked for again at once after the store failed', async () => {
    await using world = await EngineTestWorld.open();
    await world.secret('whsec_a');
    const keys = new SigningKeys(world);
    world.faults.set('refuses', 'listSecrets');
    await expect(keys.of(PARTITION)).rejects.toThrow('The store is away.');
    world.faults.clear();
    expect(await textsOf(keys)).toEqual(['whsec_a']);
  });
});
