import { describe, expect, test } from 'vitest';
import type { EndpointId } from '#src/domain/id.ts';
import type { Partition } from '#src/domain/project.ts';
import { EngineHarness, PARTITION } from '#test/engine-harness.ts';
import { type Signed, SigningKeys } from './signing-keys.ts';

function to(endpointId: EndpointId | null = null, partition: Partition = PARTITION): Signed {
  return { partition, target: { endpointId } };
}

async function textsOf(keys: SigningKeys, signed: Signed = to()): Promise<readonly string[]> {
  return (await keys.of(signed)).all.map((key) => key.export().toString('utf8'));
}

describe('the secrets that sign', () => {
  test("are the partition's, each the UTF-8 bytes of its whole text, the newest first", async () => {
    await using harness = await EngineHarness.open();
    await harness.secret('whsec_älter');
    await harness.time.advance(1);
    await harness.secret('whsec_newer');
    const keys = new SigningKeys(harness);
    expect(await textsOf(keys)).toEqual(['whsec_newer', 'whsec_älter']);
    expect(await textsOf(keys, to(null, 2 as Partition))).toEqual(['whsec_of_the_neighbour']);
  });

  test('are read again after a second, so that a rotation counts within a second', async () => {
    await using harness = await EngineHarness.open();
    await harness.secret('whsec_old');
    const keys = new SigningKeys(harness);
    expect(await textsOf(keys)).toEqual(['whsec_old']);
    await harness.secret('whsec_new');
    await harness.time.advance(999);
    expect(await textsOf(keys)).toEqual(['whsec_old']);
    await harness.time.advance(1);
    expect(await textsOf(keys)).toEqual(['whsec_new', 'whsec_old']);
    expect(harness.faults.times('listSecrets')).toBe(2);
  });

  test('stop signing to the millisecond, also while they are cached', async () => {
    await using harness = await EngineHarness.open();
    await harness.secret('whsec_old');
    await harness.secret('whsec_new', 500);
    const keys = new SigningKeys(harness);
    await harness.time.advance(499);
    expect(await textsOf(keys)).toEqual(['whsec_new', 'whsec_old']);
    await harness.time.advance(1);
    expect(await textsOf(keys)).toEqual(['whsec_new']);
    expect(harness.faults.times('listSecrets')).toBe(1);
  });

  test('are read once for concurrent requests', async () => {
    await using harness = await EngineHarness.open();
    await harness.secret('whsec_a');
    const keys = new SigningKeys(harness);
    await Promise.all(Array.from({ length: 20 }, () => keys.of(to())));
    expect(harness.faults.times('listSecrets')).toBe(1);
  });

  test.for([-3_600_000, 3_600_000])('are read again when the clock is set by %i ms', async (byMs) => {
    await using harness = await EngineHarness.open();
    await harness.secret('whsec_old');
    const keys = new SigningKeys(harness);
    await keys.of(to());
    await harness.secret('whsec_new');
    harness.time.setClock(byMs);
    expect(await textsOf(keys)).toEqual(['whsec_new', 'whsec_old']);
  });

  test('sign again when a clock that was ahead is set back before their end', async () => {
    await using harness = await EngineHarness.open();
    await harness.secret('whsec_old');
    await harness.secret('whsec_new', 60_000);
    const keys = new SigningKeys(harness);
    harness.time.setClock(60_000);
    expect(await textsOf(keys)).toEqual(['whsec_new']);
    harness.time.setClock(-60_000);
    expect(await textsOf(keys)).toEqual(['whsec_new', 'whsec_old']);
  });

  test('are read again at once after the store failed', async () => {
    await using harness = await EngineHarness.open();
    await harness.secret('whsec_a');
    const keys = new SigningKeys(harness);
    harness.faults.set('refuses', 'listSecrets');
    await expect(keys.of(to())).rejects.toThrow('The store is away.');
    harness.faults.clear();
    expect(await textsOf(keys)).toEqual(['whsec_a']);
  });
});

describe('the keys for Standard Webhooks', () => {
  const standardOf = async (keys: SigningKeys, signed: Signed = to()) =>
    (await keys.of(signed)).standard.map((key) => key.export().toString('utf8'));

  test('are the decoded base64 of the secrets that have this form, in their order', async () => {
    await using harness = await EngineHarness.open();
    for (const text of ['whsec_Z3V0ZW4gVGFn', 'a free text', 'whsec_TW9pbg==']) {
      await harness.secret(text);
      await harness.time.advance(1);
    }
    const keys = new SigningKeys(harness);
    expect(await textsOf(keys)).toEqual(['whsec_TW9pbg==', 'a free text', 'whsec_Z3V0ZW4gVGFn']);
    expect(await standardOf(keys)).toEqual(['Moin', 'guten Tag']);
    await harness.time.advance(86_400_000);
    expect(await standardOf(keys)).toEqual(['Moin']);
  });

  test("are the profile's first, then alone", async () => {
    await using harness = await EngineHarness.open();
    await harness.secret('whsec_Z3V0ZW4gVGFn');
    const { id } = await harness.profile();
    await harness.endpointSecret(id, 'whsec_TW9pbg==', 500);
    const keys = new SigningKeys(harness);
    expect(await standardOf(keys, to(id))).toEqual(['Moin', 'guten Tag']);
    await harness.time.advance(500);
    expect(await standardOf(keys, to(id))).toEqual(['Moin']);
  });
});

describe('the secrets that sign for a profile', () => {
  const HOUR_MS = 3_600_000;

  test("are the profile's and the project's, then the profile's alone, to the millisecond, also while cached", async () => {
    await using harness = await EngineHarness.open();
    await harness.secret('whsec_project');
    const { id } = await harness.profile();
    await harness.endpointSecret(id, 'whsec_own', 500);
    const keys = new SigningKeys(harness);
    await harness.time.advance(499);
    expect(await textsOf(keys, to(id))).toEqual(['whsec_own', 'whsec_project']);
    await harness.time.advance(1);
    expect(await textsOf(keys, to(id))).toEqual(['whsec_own']);
    expect(harness.faults.times('listEndpointSecrets')).toBe(1);
  });

  test('are not those of another profile, nor of a delivery without one', async () => {
    await using harness = await EngineHarness.open();
    await harness.secret('whsec_project');
    const [one, other] = [await harness.profile(), await harness.profile()];
    await harness.endpointSecret(one.id, 'whsec_own', 0);
    const keys = new SigningKeys(harness);
    expect(await textsOf(keys, to(one.id))).toEqual(['whsec_own']);
    expect(await textsOf(keys, to(other.id))).toEqual(['whsec_project']);
    expect(await textsOf(keys)).toEqual(['whsec_project']);
  });

  test('are read again after a second', async () => {
    await using harness = await EngineHarness.open();
    await harness.secret('whsec_project');
    const { id } = await harness.profile();
    const keys = new SigningKeys(harness);
    expect(await textsOf(keys, to(id))).toEqual(['whsec_project']);
    await harness.endpointSecret(id, 'whsec_own', HOUR_MS);
    await harness.time.advance(999);
    expect(await textsOf(keys, to(id))).toEqual(['whsec_project']);
    await harness.time.advance(1);
    expect(await textsOf(keys, to(id))).toEqual(['whsec_own', 'whsec_project']);
  });

  test('cost a project without such secrets one read a second for all profiles, and none without a profile', async () => {
    await using harness = await EngineHarness.open();
    await harness.secret('whsec_project');
    const profiles = [await harness.profile(), await harness.profile(), await harness.profile()];
    const keys = new SigningKeys(harness);
    await keys.of(to());
    expect(harness.faults.times('hasEndpointSecrets')).toBe(0);
    for (const { id } of profiles) await keys.of(to(id));
    expect(harness.faults.times('hasEndpointSecrets')).toBe(1);
    expect(harness.faults.times('listEndpointSecrets')).toBe(0);
  });

  test('are returned without a wait once they were read', async () => {
    await using harness = await EngineHarness.open();
    await harness.secret('whsec_project');
    const [own, bare] = [await harness.profile(), await harness.profile()];
    await harness.endpointSecret(own.id, 'whsec_own', 0);
    const keys = new SigningKeys(harness);
    expect(keys.fresh(to(own.id))).toBeNull();
    for (const { id } of [own, bare]) await keys.of(to(id));
    for (const signed of [to(own.id), to(bare.id), to()]) expect(keys.fresh(signed)?.all).toHaveLength(1);
    await harness.time.advance(1_000);
    expect(keys.fresh(to(own.id))).toBeNull();
  });

  test.for(['hasEndpointSecrets', 'listEndpointSecrets'] as const)(
    'are asked for again at once after the store failed at %s',
    async (verb) => {
      await using harness = await EngineHarness.open();
      await harness.secret('whsec_project');
      const { id } = await harness.profile();
      await harness.endpointSecret(id, 'whsec_own', 0);
      const keys = new SigningKeys(harness);
      harness.faults.set('refuses', verb);
      await expect(keys.of(to(id))).rejects.toThrow('The store is away.');
      expect(keys.fresh(to(id))).toBeNull();
      harness.faults.clear();
      expect(await textsOf(keys, to(id))).toEqual(['whsec_own']);
    },
  );
});
