import { describe, expect, test } from 'vitest';
import type { DeliveryId } from '#src/domain/id.ts';
import { responseContext } from '#src/domain/sealing-contexts.ts';
import { type DataHarness, useDataHarness } from '#test/control/data-harness.ts';
import { REDIRECT } from '#test/store-contract/builders.ts';

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

/** Stores a delivery with one attempt, whose answer was kept. */
async function answeredDelivery({ build, control: { store, vault } }: DataHarness): Promise<DeliveryId> {
  const { schedule, pending } = build.schedule();
  await store.addSchedule({ schedule, pending, payload: null, profile: null, receipt: null });
  const claimed = build.claim(pending, { schedule, profile: null });
  await store.claim([claimed]);
  const sealed = vault.seal(responseContext(schedule.partition, pending.id, 1), Buffer.from('moved to b'));
  const response = { statusCode: 301, contentType: 'text/plain', isTruncated: true, sealed };
  await store.settle([{ ...build.settle(claimed, schedule, REDIRECT), response }]);
  return pending.id;
}

describe('what was kept of an answer', () => {
  test.each(['operator', 'admin'] as const)(
    'is shown to an %s, and the audit log has who saw it',
    async (role) => {
      const harness = await open();
      const id = await answeredDelivery(harness);
      expect(await harness.post(`deliveries/${id}/reveal`, { attempt_no: 1 }, role)).toEqual({
        status: 200,
        body: {
          object: 'attempt_response',
          status_code: 301,
          content_type: 'text/plain',
          excerpt: 'moved to b',
          encoding: 'utf-8',
          truncated: true,
        },
      });
      expect(harness.audit.at(-1)).toEqual(
        expect.objectContaining({ action: 'delivery.reveal', subject: id, detail: { attempt_no: 1 } }),
      );
    },
  );

  test('is not shown to a viewer, who sees that it was kept', async () => {
    const harness = await open();
    const id = await answeredDelivery(harness);
    const { body } = await harness.get(`deliveries/${id}/details`, 'viewer');
    expect(body.attempts).toMatchObject([{ attempt_no: 1, response_kept: true }]);
    expect((await harness.post(`deliveries/${id}/reveal`, { attempt_no: 1 }, 'viewer')).status).toBe(403);
  });

  test('is not found for another attempt, another project or another delivery', async () => {
    const harness = await open();
    const id = await answeredDelivery(harness);
    const elsewhere = await answeredDelivery(await open());
    for (const [path, attempt_no] of [
      [id, 2],
      [elsewhere, 1],
      ['dlv_00000000000000000000000000', 1],
    ] as const) {
      expect((await harness.post(`deliveries/${path}/reveal`, { attempt_no })).status).toBe(404);
    }
  });

  test.each([0, 1.5, '1', null, 1_000_000])('%o is no number of an attempt', async (attempt_no) => {
    const harness = await open();
    const id = await answeredDelivery(harness);
    expect(await harness.post(`deliveries/${id}/reveal`, { attempt_no })).toMatchObject({
      status: 400,
      body: { error: { code: 'invalid_request', param: 'attempt_no' } },
    });
  });
});
