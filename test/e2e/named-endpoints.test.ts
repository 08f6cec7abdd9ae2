/** Endpoint profiles by name: `name`, PUT, GET, `dry_run`. */
import { describe, expect, it } from 'vitest';
import { planted } from './client.ts';
import {
  created,
  createdProfile,
  expectError,
  expectStatus,
  onlyDelivery,
  patchedProfile,
} from './expectations.ts';
import { useSched } from './harness.ts';
import { type Endpoint, PROFILE } from './resources.ts';

const { api } = useSched();

let names = 0;
const newName = () => `hooks.${++names}`;
const pathOf = (name: string) => `/v1/endpoints/named/${encodeURIComponent(name)}`;
const put = (name: string, body: object, query = '') =>
  api.send<Endpoint>('PUT', `${pathOf(name)}${query}`, { raw: JSON.stringify(body) });

const FULL = {
  url: 'https://receiver.example/hooks',
  method: 'PUT',
  headers: { 'X-One': planted('one'), 'X-Two': planted('two') },
  timeout: '9s',
  retry_policy: { max_attempts: 3 },
  retry_budget: { rate: 2, burst: 20 },
  rate_limit: { per_second: 5 },
  breaker_policy: { threshold: 3, base_open: '10s', max_open: '1m', probe_timeout: '5s' },
  response_excerpt: 512,
  standard_webhooks: true,
  metadata: { team: 'billing', env: 'prod' },
};

describe('a name of an endpoint profile', () => {
  it('is unique among unarchived profiles, and changed and cleared by PATCH', async () => {
    const [name, other] = [newName(), newName()];
    const first = await createdProfile(api, { ...PROFILE, name });
    expect(first.name).toBe(name);
    expectError(await api.post('/v1/endpoints', { ...PROFILE, name }), 409, 'name_taken', 'name');
    expectError(await api.post('/v1/endpoints', { ...PROFILE, name: 'a b' }), 422, 'invalid_name', 'name');
    // Schedules have names of their own.
    await created(api, { endpoint_id: first.id, delay: '1h', name });
    expect(await patchedProfile(api, first.id, { name: other })).toMatchObject({ name: other, version: 2 });
    expectError(await api.get(pathOf(name)), 404, 'not_found');
    expect((await patchedProfile(api, first.id, { name: null })).name).toBeNull();
    expectError(await api.get(pathOf(other)), 404, 'not_found');
  });

  it('is free once its profile is archived', async () => {
    const name = newName();
    const { id } = await createdProfile(api, { ...PROFILE, name });
    expectStatus(await api.post(`/v1/endpoints/${id}/archive`), 200);
    expectError(await api.get(pathOf(name)), 404, 'not_found');
    expect(expectStatus(await put(name, PROFILE), 201).id).not.toBe(id);
  });
});

describe('PUT /v1/endpoints/named/{name}', () => {
  it('creates a profile, then finds it equal, without a new version', async () => {
    const name = newName();
    const first = expectStatus(await put(name, FULL), 201);
    expect(first).toMatchObject({ name, version: 1, header_keys: ['X-One', 'X-Two'], response_excerpt: 512 });
    const same = await put(name, {
      ...FULL,
      name,
      headers: { 'X-Two': planted('two'), 'X-One': planted('one') },
    });
    expect(same.headers['sched-unchanged']).toBe('true');
    expect(expectStatus(same, 200)).toEqual(first);
    expect(expectStatus(await api.get<Endpoint>(pathOf(name)), 200)).toEqual(first);
  });

  it.each<[string, object, object]>([
    ['url', { url: 'https://other.example/' }, { url: 'https://other.example/' }],
    ['method', { method: null }, { method: 'POST' }],
    ['a header value', { headers: { 'X-One': planted('1'), 'X-Two': planted('two') } }, {}],
    ['headers', { headers: null }, { header_keys: [] }],
    ['timeout', { timeout: null }, { timeout: null }],
    ['retry_policy', { retry_policy: null }, {}],
    ['retry_budget', { retry_budget: null }, { retry_budget: null }],
    ['rate_limit', { rate_limit: null }, { rate_limit: null }],
    ['breaker_policy', { breaker_policy: null }, { breaker_policy: null }],
    ['response_excerpt', { response_excerpt: 0 }, { response_excerpt: 0 }],
    ['standard_webhooks', { standard_webhooks: null }, { standard_webhooks: false }],
    ['metadata', { metadata: null }, { metadata: {} }],
  ])('changes %s, with a new version', async (field, change, shown) => {
    const name = newName();
    const first = expectStatus(await put(name, FULL), 201);
    const fields = [field === 'a header value' ? 'headers' : field];
    const plan = expectStatus(await put(name, { ...FULL, ...change }, '?dry_run=true'), 200);
    expect(plan).toEqual({ object: 'plan', action: 'change', fields });
    const after = expectStatus(await put(name, { ...FULL, ...change }), 200);
    expect(after).toMatchObject({ id: first.id, version: 2, ...shown });
    const again = await put(name, { ...FULL, ...change });
    expect(again.headers['sched-unchanged']).toBe('true');
    expect(expectStatus(again, 200)).toEqual(after);
  });

  it('leaves pending deliveries the version that they were made with', async () => {
    const name = newName();
    const { id } = expectStatus(await put(name, FULL), 201);
    const schedule = await created(api, { endpoint_id: id, delay: '1h' });
    expectStatus(await put(name, PROFILE), 200);
    expect((await onlyDelivery(api, schedule.id)).endpoint_version).toBe(1);
  });

  it('answers a plan for a dry run, and refuses what is wrong', async () => {
    const name = newName();
    expect(expectStatus(await put(name, PROFILE, '?dry_run=true'), 200)).toEqual({
      object: 'plan',
      action: 'create',
      fields: ['url'],
    });
    for (const query of ['', '?dry_run=true']) {
      expectError(await put(name, {}, query), 422, 'missing_url', 'url');
      expectError(await put(name, { ...PROFILE, timeout: 'x' }, query), 422, 'invalid_timeout', 'timeout');
      expectError(await put(name, { ...PROFILE, name: 'x' }, query), 422, 'invalid_name', 'name');
    }
    expectError(await put('a b', PROFILE), 422, 'invalid_name', 'name');
    expectError(await api.get(pathOf(name)), 404, 'not_found');
  });

  it('gives one profile to many equal requests at once', async () => {
    const name = newName();
    const answers = await Promise.all(Array.from({ length: 20 }, () => put(name, FULL)));
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(1);
    expect(new Set(answers.map(({ json }) => `${json.id} ${json.version}`)).size).toBe(1);
  });
});
