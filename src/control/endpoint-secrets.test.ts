import { describe, expect, test } from 'vitest';
import { LIVE_SECRETS_MAX } from '#src/domain/endpoint-secrets.ts';
import type { EndpointId } from '#src/domain/id.ts';
import type { Mode } from '#src/domain/partition.ts';
import { Builders } from '#src/store/contract/builders.ts';
import { openTestWorld, START, type TestWorld } from '#test/process/control-world.ts';
import { createProject } from './create-project.ts';
import {
  createEndpointSecret,
  type EndpointPlace,
  removeEndpointSecrets,
  requireEndpointOf,
  rotateEndpointSecret,
  showEndpointSecrets,
  signingSecrets,
} from './endpoint-secrets.ts';
import { requireProject } from './projects.ts';
import { showSecrets } from './secrets.ts';

const HOUR_MS = 3_600_000;

async function givenEndpoint(
  world: TestWorld,
  project = 'shop',
  mode: Mode = 'test',
): Promise<EndpointPlace> {
  await createProject(world, project);
  const { partitions } = await requireProject(world.store, project);
  const profile = new Builders(partitions[mode], world.ids).profile();
  await world.store.addProfile({ profile, headers: null, receipt: null });
  return { partition: partitions[mode], endpointId: profile.id };
}

async function signers(world: TestWorld, { partition, endpointId }: EndpointPlace) {
  return (await signingSecrets(world, partition, endpointId)).map(({ id }) => id);
}

describe('a secret of a profile', () => {
  test("signs beside the project's for 24 h unless told, then alone, and has the form of the project's", async () => {
    await using world = await openTestWorld();
    const place = await givenEndpoint(world);
    const [projects] = await showSecrets(world, 'shop', 'test');
    const [own, ...others] = await createEndpointSecret(world, place);
    expect(others).toEqual([]);
    expect(own).toMatchObject({ expiresAt: null, aloneFrom: START + 24 * HOUR_MS });
    expect(own?.text).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
    expect(own?.text).not.toBe(projects?.text);
    expect(await signers(world, place)).toEqual([own?.id, projects?.id]);
    world.advance(24 * HOUR_MS);
    expect(await signers(world, place)).toEqual([own?.id]);
    expect(await signingSecrets(world, place.partition, null)).toEqual([projects]);
  });

  test('is rotated with an overlap', async () => {
    await using world = await openTestWorld();
    const place = await givenEndpoint(world);
    const [old] = await createEndpointSecret(world, place, '0');
    world.advance(1);
    const [fresh, before] = await rotateEndpointSecret(world, place, '1h');
    expect(before).toEqual({ ...old, expiresAt: START + 1 + HOUR_MS });
    expect(fresh).toMatchObject({ expiresAt: null, aloneFrom: START });
    expect(await signers(world, place)).toEqual([fresh?.id, old?.id]);
    world.advance(HOUR_MS);
    expect(await signers(world, place)).toEqual([fresh?.id]);
  });

  test("is removed with an overlap: the project's sign at once, and then alone", async () => {
    await using world = await openTestWorld();
    const place = await givenEndpoint(world);
    const [projects] = await showSecrets(world, 'shop', 'test');
    const [own] = await createEndpointSecret(world, place, '0');
    const left = await removeEndpointSecrets(world, place, '1h');
    expect(left).toEqual([{ ...own, expiresAt: START + HOUR_MS, aloneFrom: null }]);
    expect(await signers(world, place)).toEqual([own?.id, projects?.id]);
    world.advance(HOUR_MS);
    expect(await showEndpointSecrets(world, place)).toEqual([]);
    expect(await signers(world, place)).toEqual([projects?.id]);
  });

  test('is created once, also when asked for at once; rotations at once all count', async () => {
    await using world = await openTestWorld();
    const place = await givenEndpoint(world);
    const created = await Promise.allSettled([1, 2, 3].map(() => createEndpointSecret(world, place)));
    expect(created.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    await expect(createEndpointSecret(world, place)).rejects.toMatchObject({
      code: 'endpoint_secret_exists',
    });
    await Promise.all([1, 2].map(() => rotateEndpointSecret(world, place, '1h')));
    expect(await showEndpointSecrets(world, place)).toHaveLength(3);
  });

  test('is not one of too many', async () => {
    await using world = await openTestWorld();
    const place = await givenEndpoint(world);
    await createEndpointSecret(world, place);
    for (let n = 1; n < LIVE_SECRETS_MAX; n++) await rotateEndpointSecret(world, place);
    await expect(rotateEndpointSecret(world, place)).rejects.toMatchObject({ code: 'too_many_secrets' });
    expect(await rotateEndpointSecret(world, place, '0')).toHaveLength(1);
  });

  test.each([rotateEndpointSecret, removeEndpointSecrets])('must be there: %o', async (change) => {
    await using world = await openTestWorld();
    const place = await givenEndpoint(world);
    await expect(change(world, place)).rejects.toMatchObject({ code: 'no_endpoint_secret' });
  });

  test('is refused an overlap that is none, and nothing changes', async () => {
    await using world = await openTestWorld();
    const place = await givenEndpoint(world);
    await expect(createEndpointSecret(world, place, '-1s')).rejects.toMatchObject({
      code: 'invalid_overlap',
    });
    expect(await showEndpointSecrets(world, place)).toEqual([]);
  });

  test('does not open as the secret of another profile', async () => {
    await using world = await openTestWorld();
    const place = await givenEndpoint(world);
    const other = await givenEndpoint(world, 'another');
    await createEndpointSecret(world, place);
    const [stolen] = await world.store.listEndpointSecrets(place.partition, place.endpointId, START);
    if (stolen === undefined) throw new Error('There is a secret.');
    const added = { ...stolen, ...other };
    expect(await world.store.changeEndpointSecrets({ ...other, before: [], ended: [], added })).toBe('done');
    await expect(showEndpointSecrets(world, other)).rejects.toThrow('Sealed for another place');
  });
});

describe('a profile', () => {
  test.each(['ep_00000000000000000000000000', 'ep_', 'sch_01jd5x3v8k2m4n6p8r0t2w4y6a', ''])(
    'that is not there: %j',
    async (id) => {
      await using world = await openTestWorld();
      await createProject(world, 'shop');
      await expect(requireEndpointOf(world, 'shop', 'test', id)).rejects.toMatchObject({
        code: 'unknown_endpoint',
      });
    },
  );

  test('belongs to its project and mode', async () => {
    await using world = await openTestWorld();
    const place = await givenEndpoint(world);
    await createProject(world, 'another');
    const { endpointId }: { readonly endpointId: EndpointId } = place;
    expect(await requireEndpointOf(world, 'shop', 'test', endpointId)).toEqual(place);
    for (const [project, mode] of [
      ['shop', 'live'],
      ['another', 'test'],
    ] as const) {
      await expect(requireEndpointOf(world, project, mode, endpointId)).rejects.toMatchObject({
        code: 'unknown_endpoint',
      });
    }
  });
});
