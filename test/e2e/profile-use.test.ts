/** Endpoint profiles of schedules: what a schedule shows, the snapshot of a delivery, and the rules of archiving. */
import { describe, expect, it } from 'vitest';
import { planted } from './client.ts';
import { OK } from './drive.ts';
import {
  created,
  createdProfile,
  deliveriesOf,
  delivery,
  expectError,
  expectStatus,
  list,
  onlyDelivery,
  ordered,
  patched,
  patchedProfile,
  profile,
  replayed,
  schedule,
} from './expectations.ts';
import { useSched } from './harness.ts';
import { DEFAULT_RETRY_POLICY, type Endpoint, ONE_SHOT, PROFILE, RECURRING } from './resources.ts';

const { api, drive } = useSched();

const POLICY = { ...DEFAULT_RETRY_POLICY, max_attempts: 3, base: '1s' };

function archive(id: string) {
  return api.post<Endpoint>(`/v1/endpoints/${id}/archive`);
}

describe('a schedule with an endpoint profile', () => {
  it('shows the profile’s current url and method, and never its header values', async () => {
    const headers = { 'X-EndpointProfile': planted('profile header') };
    const { id } = await createdProfile(api, { ...PROFILE, method: 'PUT', headers });
    const own = { 'X-Own': planted('own header') };
    const shown = await created(api, { endpoint_id: id, delay: '1h', headers: own });
    expect(shown).toMatchObject({ endpoint: PROFILE.url, method: 'PUT', header_keys: ['X-Own'] });

    await patchedProfile(api, id, { url: 'https://b.example/', method: 'GET' });
    const now = { ...shown, endpoint: 'https://b.example/', method: 'GET' };
    expect(await schedule(api, shown.id)).toEqual(now);
    expect((await list(api, '/v1/schedules?limit=1')).data).toEqual([now]);
  });

  it('without its own retry policy uses the present one of the profile', async () => {
    const { id } = await createdProfile(api, { ...PROFILE, retry_policy: POLICY });
    const shown = await created(api, { endpoint_id: id, delay: '1h' });
    expect(shown.retry_policy).toEqual(POLICY);
    await patchedProfile(api, id, { retry_policy: { max_attempts: 9 } });
    expect((await schedule(api, shown.id)).retry_policy.max_attempts).toBe(9);
  });

  it('with its own retry policy keeps it, and null gives it the one of the profile', async () => {
    const { id } = await createdProfile(api, { ...PROFILE, retry_policy: POLICY });
    const own = { endpoint_id: id, delay: '1h', retry_policy: { max_attempts: 2 } };
    const shown = await created(api, own);
    expect(shown.retry_policy).toEqual({ ...DEFAULT_RETRY_POLICY, max_attempts: 2 });
    expect((await patched(api, shown.id, { retry_policy: null })).retry_policy).toEqual(POLICY);
  });

  it('refuses a PATCH of endpoint and method, and ignores endpoint_id', async () => {
    const { id } = await createdProfile(api, PROFILE);
    const other = await createdProfile(api, PROFILE);
    const shown = await created(api, { endpoint_id: id, delay: '1h' });
    const path = `/v1/schedules/${shown.id}`;
    const endpoint = 'https://b.example/';
    expectError(await api.patch(path, { endpoint }), 400, 'multiple_endpoint', ['endpoint', 'endpoint_id']);
    expectError(await api.patch(path, { method: 'GET' }), 400, 'method_on_profile', 'method');
    expect(await schedule(api, shown.id)).toEqual(shown);
    const after = await patched(api, shown.id, { endpoint_id: other.id, metadata: { a: 'b' } });
    expect(after).toMatchObject({ endpoint_id: id, metadata: { a: 'b' } });
  });
});

describe('a delivery keeps the version that was current when it was materialized', () => {
  it('the pending delivery keeps its version, and the next uses the new one', async () => {
    const { id } = await createdProfile(api, PROFILE);
    const shown = await created(api, { endpoint_id: id, cron: RECURRING.cron });
    const first = await onlyDelivery(api, shown.id);
    expect(first).toMatchObject({ endpoint_id: id, endpoint_version: 1 });

    await patchedProfile(api, id, { timeout: '5s' });
    await patchedProfile(api, id, { timeout: '6s' });
    expect(await delivery(api, first.id)).toEqual(first);

    await drive.claim(first.id);
    const [next] = await deliveriesOf(api, shown.id);
    expect(next).toMatchObject({ status: 'scheduled', endpoint_id: id, endpoint_version: 3 });
    expect(await delivery(api, first.id)).toMatchObject({ status: 'claimed', endpoint_version: 1 });
  });

  it('a schedule created after an edit uses the new version', async () => {
    const { id } = await createdProfile(api, PROFILE);
    await patchedProfile(api, id, { method: 'PUT' });
    const shown = await created(api, { endpoint_id: id, delay: '1h' });
    expect(await onlyDelivery(api, shown.id)).toMatchObject({ endpoint_version: 2 });
  });

  it('a replay uses the snapshot of the original', async () => {
    const { id } = await createdProfile(api, PROFILE);
    const shown = await created(api, { endpoint_id: id, delay: '1h' });
    const first = await onlyDelivery(api, shown.id);
    await drive.fire(first.id, OK);
    await patchedProfile(api, id, { url: 'https://b.example/' });
    expect(await replayed(api, first.id)).toMatchObject({ endpoint_id: id, endpoint_version: 1 });
  });

  it('a delivery to an inline destination names no profile', async () => {
    const shown = await created(api, ONE_SHOT);
    expect(await onlyDelivery(api, shown.id)).toMatchObject({ endpoint_id: null, endpoint_version: null });
  });
});

describe('POST /endpoints/{id}/archive', () => {
  it('archives without making a version, and answers 200 when repeated', async () => {
    const before = await createdProfile(api, PROFILE);
    const after = expectStatus(await archive(before.id), 200);
    expect(after).toEqual({ ...before, archived: true, updated_at: after.updated_at });
    expect(expectStatus(await archive(before.id), 200)).toEqual(after);
  });

  it('an archived profile stays queryable and editable, and is listed only on demand', async () => {
    const { id } = await createdProfile(api, PROFILE);
    await archive(id);
    expect((await profile(api, id)).archived).toBe(true);
    expect(await patchedProfile(api, id, { method: 'PUT' })).toMatchObject({ archived: true, version: 2 });

    const ids = async (query: string) =>
      (await list<Endpoint>(api, `/v1/endpoints?limit=100${query}`)).data.map((shown) => shown.id);
    expect(await ids('')).not.toContain(id);
    expect(await ids('&include_archived=false')).not.toContain(id);
    expect(await ids('&include_archived=')).not.toContain(id);
    expect(await ids('&include_archived=true')).toContain(id);
  });

  it('a profile of an active schedule: 409 profile_in_use, and nothing changes', async () => {
    const before = await createdProfile(api, PROFILE);
    await created(api, { endpoint_id: before.id, delay: '1h' });
    expectError(await archive(before.id), 409, 'profile_in_use');
    expect(await profile(api, before.id)).toEqual(before);
  });

  it('a paused schedule counts as use, and a canceled one does not', async () => {
    const { id } = await createdProfile(api, PROFILE);
    const shown = await created(api, { endpoint_id: id, delay: '1h' });
    await ordered(api, shown.id, 'pause');
    expectError(await archive(id), 409, 'profile_in_use');
    await ordered(api, shown.id, 'cancel');
    expectStatus(await archive(id), 200);
    expect(await schedule(api, shown.id)).toMatchObject({ state: 'canceled', endpoint: PROFILE.url });
  });

  it('a completed schedule does not count as use', async () => {
    const { id } = await createdProfile(api, PROFILE);
    const shown = await created(api, { endpoint_id: id, delay: '1h' });
    await drive.fire((await onlyDelivery(api, shown.id)).id, OK);
    expectStatus(await archive(id), 200);
  });

  it('creating a schedule with it and archiving it at the same time never both succeed', async () => {
    for (let round = 0; round < 10; round++) {
      const { id } = await createdProfile(api, PROFILE);
      const [creation, archiving] = await Promise.all([
        api.post('/v1/schedules', { endpoint_id: id, delay: '1h' }),
        archive(id),
      ]);
      expect([`${creation.status} ${archiving.status}`]).toEqual([expect.toBeOneOf(['201 409', '422 200'])]);
    }
  });
});
