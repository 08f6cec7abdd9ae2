import { expect, test } from 'vitest';
import { useDataBench } from '#test/control/data-harness.ts';

const open = useDataBench();

const HEADERS = { 'X-Key': 'value-of-the-header', 'X-Näme': 'ünïcode' };
const BODY = '{"card":"4242"}\u0000\n\ud83d\ude80';

test('an admin sees header values and body, and the audit log who saw them', async () => {
  const bench = await open();
  const made = await bench.post('schedules', {
    endpoint: 'https://example.com/',
    delay: '5m',
    headers: HEADERS,
    body: BODY,
  });
  expect(await bench.post(`schedules/${made.body.id}/reveal`, {}, 'admin')).toEqual({
    status: 200,
    body: { headers: HEADERS, body: BODY },
  });
  expect(bench.audit.at(-1)).toMatchObject({ action: 'schedule.reveal', subject: made.body.id });
});

test('of a profile the headers of its newest version are shown', async () => {
  const bench = await open();
  const made = await bench.post('endpoints', { url: 'https://example.com/', headers: { 'X-Key': 'old' } });
  await bench.patch(`endpoints/${made.body.id}`, { headers: HEADERS });
  const shown = await bench.post(`endpoints/${made.body.id}/reveal`, {}, 'admin');
  expect(shown.body).toEqual({ headers: HEADERS, body: null });
});

test('what has none shows none', async () => {
  const bench = await open();
  const schedule = await bench.post('schedules', { endpoint: 'https://example.com/', delay: '5m' });
  const shown = await bench.post(`schedules/${schedule.body.id}/reveal`, {}, 'admin');
  expect(shown.body).toEqual({ headers: {}, body: null });
  const endpoint = await bench.post('endpoints', { url: 'https://example.com/' });
  expect((await bench.post(`endpoints/${endpoint.body.id}/reveal`, {}, 'admin')).body).toEqual({
    headers: {},
    body: null,
  });
});

test.each(['viewer', 'operator'] as const)('a %s is never shown them', async (role) => {
  const bench = await open();
  const made = await bench.post('schedules', { endpoint: 'https://example.com/', delay: '5m', body: BODY });
  expect((await bench.post(`schedules/${made.body.id}/reveal`, {}, role)).status).toBe(403);
  expect((await bench.post('endpoints/ep_00000000000000000000000000/reveal', {}, role)).status).toBe(403);
});
