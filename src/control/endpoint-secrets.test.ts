import { describe, expect, test } from 'vitest';
import { editProfile, type ProfileEdit } from '#src/domain/endpoint-profile.ts';
import { LIVE_SECRETS_MAX } from '#src/domain/endpoint-secrets.ts';
import type { EndpointId } from '#src/domain/id.ts';
import type { Mode } from '#src/domain/project.ts';
import { type ControlHarness, openControlHarness, START } from '#test/process/control-harness.ts';
import { Builders } from '#test/store-contract/builders.ts';
import { createProject } from './bootstrap.ts';
import {
  createEndpointSecret,
  type EndpointProfileRef,
  removeEndpointSecrets,
  requireEndpointOf,
  rotateEndpointSecret,
  showEndpointSecrets,
  signingSecrets,
} from './endpoint-secrets.ts';
import { requireProject } from './projects.ts';
import { addSecret, rotateSecret, showSecrets } from './secrets.ts';

const HOUR_MS = 3_600_000;

async function givenEndpoint(
  harness: ControlHarness,
  project = 'shop',
  mode: Mode = 'test',
): Promise<EndpointProfileRef> {
  await createProject(harness, project);
  const { partitions } = await requireProject(harness.store, project);
  const profile = new Builders(partitions[mode], harness.ids).profile();
  await harness.store.addProfile({ profile, headers: null, receipt: null });
  return { partition: partitions[mode], endpointId: profile.id };
}

async function signers(harness: ControlHarness, { partition, endpointId }: EndpointProfileRef) {
  return (await signingSecrets(harness, partition, endpointId)).map(({ id }) => id);
}

describe('a secret of an endpoint profile', () => {
  test("signs beside the project's for 24 h by default, then alone, and has the same form", async () => {
    await using harness = await openControlHarness();
    const profile = await givenEndpoint(harness);
    const [projects] = await showSecrets(harness, 'shop', 'test');
    const [own, ...others] = await createEndpointSecret(harness, profile);
    expect(others).toEqual([]);
    expect(own).toMatchObject({ expiresAt: null, aloneFrom: START + 24 * HOUR_MS });
    expect(own?.text).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
    expect(own?.text).not.toBe(projects?.text);
    expect(await signers(harness, profile)).toEqual([own?.id, projects?.id]);
    harness.advance(24 * HOUR_MS);
    expect(await signers(harness, profile)).toEqual([own?.id]);
    expect(await signingSecrets(harness, profile.partition, null)).toEqual([projects]);
  });

  test('is rotated with an overlap', async () => {
    await using harness = await openControlHarness();
    const profile = await givenEndpoint(harness);
    const [old] = await createEndpointSecret(harness, profile, '0');
    harness.advance(1);
    const [fresh, before] = await rotateEndpointSecret(harness, profile, '1h');
    expect(before).toEqual({ ...old, expiresAt: START + 1 + HOUR_MS });
    expect(fresh).toMatchObject({ expiresAt: null, aloneFrom: START });
    expect(await signers(harness, profile)).toEqual([fresh?.id, old?.id]);
    harness.advance(HOUR_MS);
    expect(await signers(harness, profile)).toEqual([fresh?.id]);
  });

  test("is removed with an overlap: the project's sign at once, and then alone", async () => {
    await using harness = await openControlHarness();
    const profile = await givenEndpoint(harness);
    const [projects] = await showSecrets(harness, 'shop', 'test');
    const [own] = await createEndpointSecret(harness, profile, '0');
    const left = await removeEndpointSecrets(harness, profile, '1h');
    expect(left).toEqual([{ ...own, expiresAt: START + HOUR_MS, aloneFrom: null }]);
    expect(await signers(harness, profile)).toEqual([own?.id, projects?.id]);
    harness.advance(HOUR_MS);
    expect(await showEndpointSecrets(harness, profile)).toEqual([]);
    expect(await signers(harness, profile)).toEqual([projects?.id]);
  });

  test('is created once by concurrent requests, and every concurrent rotation counts', async () => {
    await using harness = await openControlHarness();
    const profile = await givenEndpoint(harness);
    const created = await Promise.allSettled([1, 2, 3].map(() => createEndpointSecret(harness, profile)));
    expect(created.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    await expect(createEndpointSecret(harness, profile)).rejects.toMatchObject({
      code: 'endpoint_secret_exists',
    });
    await Promise.all([1, 2].map(() => rotateEndpointSecret(harness, profile, '1h')));
    expect(await showEndpointSecrets(harness, profile)).toHaveLength(3);
  });

  test('is refused if too many secrets still sign', async () => {
    await using harness = await openControlHarness();
    const profile = await givenEndpoint(harness);
    await createEndpointSecret(harness, profile);
    for (let n = 1; n < LIVE_SECRETS_MAX; n++) await rotateEndpointSecret(harness, profile);
    await expect(rotateEndpointSecret(harness, profile)).rejects.toMatchObject({ code: 'too_many_secrets' });
    expect(await rotateEndpointSecret(harness, profile, '0')).toHaveLength(1);
  });

  test.each([rotateEndpointSecret, removeEndpointSecrets])('must exist for %o', async (change) => {
    await using harness = await openControlHarness();
    const profile = await givenEndpoint(harness);
    await expect(change(harness, profile)).rejects.toMatchObject({ code: 'no_endpoint_secret' });
  });

  test("is not removed from a profile with Standard Webhooks while the project's cannot sign for it", async () => {
    await using harness = await openControlHarness();
    const profile = await givenEndpoint(harness);
    await addSecret(harness, profile.partition, 'a free text', '0');
    harness.advance(1);
    await createEndpointSecret(harness, profile, '0');
    const edit = async (given: ProfileEdit) => {
      const before = await harness.store.findProfile(profile.partition, profile.endpointId);
      if (before === null) throw new Error('The profile does not exist.');
      const edited = editProfile(before, given, START);
      await harness.store.replaceProfile({ profile: edited, headers: null, receipt: null });
    };
    await edit({ standardWebhooks: true });
    const refusal = { code: 'project_secret_not_standard', subject: profile.endpointId };
    await expect(removeEndpointSecrets(harness, profile)).rejects.toMatchObject(refusal);
    expect(await showEndpointSecrets(harness, profile)).toHaveLength(1);
    expect(await rotateEndpointSecret(harness, profile, '0')).toHaveLength(1);

    await rotateSecret(harness, 'shop', 'test', '1h');
    await expect(removeEndpointSecrets(harness, profile)).rejects.toMatchObject(refusal);
    harness.advance(HOUR_MS);
    expect(await removeEndpointSecrets(harness, profile, '0')).toEqual([]);
  });

  test('is not changed with an invalid overlap', async () => {
    await using harness = await openControlHarness();
    const profile = await givenEndpoint(harness);
    await expect(createEndpointSecret(harness, profile, '-1s')).rejects.toMatchObject({
      code: 'invalid_overlap',
    });
    expect(await showEndpointSecrets(harness, profile)).toEqual([]);
  });

  test('cannot be opened as the secret of another endpoint profile', async () => {
    await using harness = await openControlHarness();
    const profile = await givenEndpoint(harness);
    const other = await givenEndpoint(harness, 'another');
    await createEndpointSecret(harness, profile);
    const [stolen] = await harness.store.listEndpointSecrets(profile.partition, profile.endpointId, START);
    if (stolen === undefined) throw new Error('There is a secret.');
    const added = { ...stolen, ...other };
    expect(await harness.store.changeEndpointSecrets({ ...other, before: [], ended: [], added })).toBe(
      'done',
    );
    await expect(showEndpointSecrets(harness, other)).rejects.toThrow('sealed for another row');
  });
});

describe('an endpoint profile', () => {
  test.each(['ep_00000000000000000000000000', 'ep_', 'sch_01jd5x3v8k2m4n6p8r0t2w4y6a', ''])(
    'with the unknown id %j is refused',
    async (id) => {
      await using harness = await openControlHarness();
      await createProject(harness, 'shop');
      await expect(requireEndpointOf(harness, 'shop', 'test', id)).rejects.toMatchObject({
        code: 'unknown_endpoint',
      });
    },
  );

  test('belongs to its project and mode', async () => {
    await using harness = await openControlHarness();
    const profile = await givenEndpoint(harness);
    await createProject(harness, 'another');
    const { endpointId }: { readonly endpointId: EndpointId } = profile;
    expect(await requireEndpointOf(harness, 'shop', 'test', endpointId)).toEqual(profile);
    for (const [project, mode] of [
      ['shop', 'live'],
      ['another', 'test'],
    ] as const) {
      await expect(requireEndpointOf(harness, project, mode, endpointId)).rejects.toMatchObject({
        code: 'unknown_endpoint',
      });
    }
  });
});
