import { expect, test } from 'vitest';
import { useDataHarness } from '#test/control/data-harness.ts';

const open = useDataHarness();

const HEADERS = { 'X-Key': 'value-of-the-header', 'X-Näme': 'ünïcode' };
const BODY = '{"card":"4242"}\u0000\n\ud83d\ude80';

test('an admin sees header values and the body, and the audit log has who saw them', async () => {
  const harness = await open();
  const made = await harness.post('schedules', {
    endpoint: 'https://example.com/',
    delay: '5m',
    headers: HEADERS,
    body: BODY,
  });
  expect(await harness.post(`schedules/${made.body.id}/reveal`, {}, 'admin')).toEqual({
    status: 200,
    body: { headers: HEADERS, body: BODY },
  });
  expect(harness.audit.at(-1)).toMatchObject({ action: 'schedule.reveal', subject: made.body.id });
});

test('an endpoint profile shows the headers of its newest version', async () => {
  const harness = await open();
  const made = await harness.post('endpoints', { url: 'https://example.com/', headers: { 'X-Key': 'old' } });
  await harness.patch(`endpoints/${made.body.id}`, { headers: HEADERS });
  const shown = await harness.post(`endpoints/${made.body.id}/reveal`, {}, 'admin');
  expect(shown.body).toEqual({ headers: HEADERS, body: null });
});

test('a schedule or profile without headers and body shows none', async () => {
  const harness = await open();
  const schedule = await harness.post('schedules', { endpoint: 'https://example.com/', delay: '5m' });
  const shown = await harness.post(`schedules/${schedule.body.id}/reveal`, {}, 'admin');
  expect(shown.body).toEqual({ headers: {}, body: null });
  const endpoint = await harness.post('endpoints', { url: 'https://example.com/' });
  expect((await harness.post(`endpoints/${endpoint.body.id}/reveal`, {}, 'admin')).body).toEqual({
    headers: {},
    body: null,
  });
});

test.each(['viewer', 'operator'] as const)('a %s may not see them', async (role) => {
  const harness = await open();
  const made = await harness.post('schedules', { endpoint: 'https://example.com/', delay: '5m', body: BODY });
  expect((await harness.post(`schedules/${made.body.id}/reveal`, {}, role)).status).toBe(403);
  expect((await harness.post('endpoints/ep_00000000000000000000000000/reveal', {}, role)).status).toBe(403);
});
