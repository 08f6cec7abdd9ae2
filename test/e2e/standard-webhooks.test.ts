/** `standard_webhooks` of an endpoint profile, in projects whose signing secrets can and cannot sign for it. */
import { describe, expect, it } from 'vitest';
import { startCheapest } from '#test/process/run-command.ts';
import type { Answer } from './client.ts';
import { createdProfile, expectError, expectStatus, list, patchedProfile, profile } from './expectations.ts';
import { useSched } from './harness.ts';
import { type Endpoint, type ErrorBody, PROFILE } from './resources.ts';

const FREE_TEXT = 'a free text of the operator';

const { api, live, command, addProject } = useSched(({ env, ...options }) =>
  startCheapest({ ...options, env: { ...env, SCHED_BOOTSTRAP_SIGNING_SECRET: FREE_TEXT } }),
);

const PATH = '/v1/endpoints/named/hooks';
const STANDARD = { ...PROFILE, standard_webhooks: true };

function put(body: object, query = ''): Promise<Answer<Endpoint>> {
  return live.send<Endpoint>('PUT', `${PATH}${query}`, { raw: JSON.stringify(body) });
}

describe('while a signing secret of the project has another form', () => {
  it('422 invalid_signature, and nothing changes, also for a dry run and a repeated key', async () => {
    const { id } = await createdProfile(api, PROFILE);
    const before = await list<Endpoint>(api, '/v1/endpoints');
    const named = '/v1/endpoints/named/hooks';
    const raw = JSON.stringify(STANDARD);
    const keyed = api.with({ 'idempotency-key': 'standard-1' });
    const refused = [
      await keyed.post('/v1/endpoints', STANDARD),
      await keyed.post('/v1/endpoints', STANDARD),
      await api.patch(`/v1/endpoints/${id}`, { standard_webhooks: true, timeout: '5s' }),
      await api.send('PUT', named, { raw }),
      await api.send('PUT', `${named}?dry_run=true`, { raw }),
    ];
    for (const answer of refused) {
      expectError(answer, 422, 'invalid_signature', 'standard_webhooks');
      const { message } = (answer.json as ErrorBody).error;
      expect(message).toMatch(/whsec_ and base64.*sched secret rotate/);
      expect(message).not.toContain(FREE_TEXT);
    }
    expect(await list(api, '/v1/endpoints')).toEqual(before);
  });

  it('other faults of the body come first, and another project is not affected', async () => {
    const wrong = { ...STANDARD, timeout: 'x' };
    expectError(await api.post('/v1/endpoints', wrong), 422, 'invalid_timeout', 'timeout');
    const other = await addProject('other');
    expect((await createdProfile(other.test, STANDARD)).standard_webhooks).toBe(true);
  });

  it('an endpoint profile may have it once its own secret signs alone', async () => {
    const { id } = await createdProfile(api, PROFILE);
    await command('secret', 'create', '--endpoint', id, '--overlap', '0');
    expect(await patchedProfile(api, id, { standard_webhooks: true })).toMatchObject({ version: 2 });
    const put = await api.patch(`/v1/endpoints/${id}`, { timeout: '5s' });
    expect(put.json).toMatchObject({ standard_webhooks: true, timeout: '5s' });
  });

  it('a project may have it once its secret was rotated away', async () => {
    expectError(await put(STANDARD), 422, 'invalid_signature', 'standard_webhooks');
    await command('secret', 'rotate', '--mode', 'live', '--overlap', '0');
    const plan = expectStatus(await put(STANDARD, '?dry_run=true'), 200);
    expect(plan).toMatchObject({ action: 'create', fields: ['url', 'standard_webhooks'] });
    const { id } = expectStatus(await put(STANDARD), 201);
    expect(await profile(live, id)).toMatchObject({ standard_webhooks: true, version: 1 });
    expect((await put(STANDARD)).headers['sched-unchanged']).toBe('true');
    expect(expectStatus(await put(PROFILE), 200)).toMatchObject({ standard_webhooks: false, version: 2 });
  });
});
