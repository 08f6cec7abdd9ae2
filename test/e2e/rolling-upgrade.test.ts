/** During a rolling upgrade an older node may live beside this one. It does not know what is new. */
import { afterAll, expect, it } from 'vitest';
import type { Answer } from './client.ts';
import { created, createdProfile, expectError, expectStatus } from './expectations.ts';
import { useSched } from './harness.ts';
import { ONE_SHOT, PROFILE, RECURRING } from './resources.ts';

const { api, drive } = useSched();

const WAIT_MS_MAX = 30_000;

afterAll(() => drive.endNode());

/** The versions of other nodes are read once a second. */
async function until(status: number, ask: () => Promise<Answer>): Promise<Answer> {
  const patience = Date.now() + WAIT_MS_MAX;
  for (;;) {
    const answer = await ask();
    if (answer.status === status || Date.now() > patience) return answer;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

it('what an older node does not know is unavailable while it lives, and changes nothing', async () => {
  const { id } = await created(api, RECURRING);
  const profile = await createdProfile(api, PROFILE);
  const before = await api.get('/v1/schedules');
  const put = (path: string, body: object, query = '') =>
    api.send('PUT', `${path}${query}`, { raw: JSON.stringify(body) });
  const named = (name: string) => api.post('/v1/schedules', { ...ONE_SHOT, name });

  await drive.startNode('0.1.9');
  expectError(await until(503, () => named('during')), 503, 'unavailable');
  const refused = [
    await put('/v1/schedules/named/job', RECURRING),
    await put('/v1/schedules/named/job', RECURRING, '?dry_run=true'),
    await put('/v1/endpoints/named/hooks', PROFILE),
    await api.post(`/v1/schedules/${id}/trigger`),
    await api.patch(`/v1/schedules/${id}`, { name: 'job' }),
    await api.patch(`/v1/endpoints/${profile.id}`, { response_excerpt: 5 }),
    await api.patch(`/v1/endpoints/${profile.id}`, { name: 'hooks' }),
  ];
  for (const answer of refused) {
    expectError(answer, 503, 'unavailable');
    expect(answer.text).toContain('0.1.9');
  }
  // Everything else works as before.
  expectStatus(await api.patch(`/v1/schedules/${id}`, { metadata: {} }), 200);
  expectStatus(await api.get(`/v1/schedules/${id}`), 200);
  expect((before.json as { readonly data: readonly unknown[] }).data).toHaveLength(
    ((await api.get('/v1/schedules')).json as { readonly data: readonly unknown[] }).data.length,
  );

  await drive.endNode();
  expectStatus(await until(201, () => named('after')), 201);
  expectStatus(await put('/v1/schedules/named/job', RECURRING), 201);
});

it('the newest field of a body decides, whatever else it has', async () => {
  await drive.startNode('0.2.9');
  const body = { ...PROFILE, name: 'beside', standard_webhooks: true };
  expectError(await until(503, () => api.post('/v1/endpoints', body)), 503, 'unavailable');
  const raw = JSON.stringify({ ...PROFILE, standard_webhooks: true });
  expectError(await api.send('PUT', '/v1/endpoints/named/beside', { raw }), 503, 'unavailable');
  const { name, standard_webhooks } = await createdProfile(api, { ...PROFILE, name: 'beside' });
  expect([name, standard_webhooks]).toEqual(['beside', false]);
  await drive.endNode();
  expectStatus(await until(200, () => api.send('PUT', '/v1/endpoints/named/beside', { raw })), 200);
});

it('a node of the same version or a newer one changes nothing', async () => {
  await drive.startNode('99.0.0');
  expectStatus(await until(201, () => api.post('/v1/schedules', { ...ONE_SHOT, name: 'beside' })), 201);
});
