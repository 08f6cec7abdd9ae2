import { expect, test } from 'vitest';
import { CLOSED } from '#src/domain/breaker.ts';
import { endpointKeyOf } from '#src/domain/endpoint-key.ts';
import { instant } from '#src/domain/instant.ts';
import { useDataHarness } from '#test/control/data-harness.ts';
import { FAILURE } from '#test/store-contract/builders.ts';

const open = useDataHarness();

test('a delivery is shown with the timing of its attempts, and in plain words', async () => {
  const harness = await open();
  const { store } = harness.control;
  const { schedule, pending } = harness.build.schedule();
  await store.addSchedule({ schedule, pending, payload: null, profile: null, receipt: null });
  const claimed = harness.build.claim(pending, { schedule, profile: null });
  await store.claim([claimed]);
  const settled = harness.build.settle(claimed, schedule, FAILURE);
  const timing = { claimedMs: 1, connectedMs: 12, firstByteMs: 40, wasConnected: false };
  await store.settle([{ ...settled, attempt: { ...settled.attempt, timing } }]);

  const { body } = await harness.get(`deliveries/${pending.id}/details`, 'viewer');
  expect(body).toMatchObject({
    delivery: {
      id: pending.id,
      status: 'retry_scheduled',
      url: 'https://example.com/hook',
      method: 'POST',
    },
    schedule: { id: schedule.id },
    waiting: { reason: 'backoff', until: body.delivery.next_fire_at },
    // It is the only delivery of a one-shot.
    can_cancel: false,
  });
  expect(body.attempts).toMatchObject([
    {
      attempt_no: 1,
      outcome: 'retryable',
      status_code: 503,
      claimed_ms: 1,
      connected_ms: 12,
      first_byte_ms: 40,
      was_connected_before: false,
      error: 'HTTP 503',
      response_kept: false,
    },
  ]);
  expect(body.attempts[0].words).toContain('answered 503 (service unavailable)');
  expect(body.words).toContain('Attempt 2 of 8 follows 10 s after attempt 1 ended.');
});

test('a delivery that an open breaker defers says so', async () => {
  const harness = await open();
  const { store } = harness.control;
  const { schedule, pending } = harness.build.schedule();
  await store.addSchedule({ schedule, pending, payload: null, profile: null, receipt: null });
  const openUntil = pending.dueAt;
  const breaker = { ...CLOSED, failures: 5, openUntil, windowMs: 30_000 };
  await store.saveGates([
    harness.build.gate(endpointKeyOf(pending.target), { gate: { breaker, budget: null, rateLimiters: {} } }),
  ]);
  const { body } = await harness.get(`deliveries/${pending.id}/details`);
  expect(body.attempts).toEqual([]);
  expect(body.waiting).toMatchObject({ reason: 'breaker_open', until: body.delivery.next_fire_at });
  expect(body.words).toContain('circuit breaker is open');
});

test('a delivery that is due after the window of the breaker is not deferred by it', async () => {
  const harness = await open();
  const { store, clock } = harness.control;
  const { schedule, pending } = harness.build.schedule();
  await store.addSchedule({ schedule, pending, payload: null, profile: null, receipt: null });
  const breaker = { ...CLOSED, failures: 5, openUntil: instant(clock.now() + 30_000), windowMs: 30_000 };
  await store.saveGates([
    harness.build.gate(endpointKeyOf(pending.target), { gate: { breaker, budget: null, rateLimiters: {} } }),
  ]);
  expect((await harness.get(`deliveries/${pending.id}/details`)).body.words).toBe(
    'The delivery waits until it is due.',
  );
});

test('the names of its headers are shown, and whether it has a body, but no value', async () => {
  const harness = await open();
  const profile = await harness.post('endpoints', {
    url: 'https://example.com/hook',
    headers: { 'X-Tenant': 'hidden', 'X-Key': 'hidden' },
  });
  const delivery = async (fields: object) => {
    const { body } = await harness.post('schedules', { delay: '5m', ...fields });
    const listed = await harness.get(`search/deliveries?schedule_id=${body.id}`);
    return (await harness.get(`deliveries/${listed.body.data[0].id}/details`, 'viewer')).body;
  };
  const full = await delivery({
    endpoint_id: profile.body.id,
    headers: { 'x-key': 'hidden', 'X-Order': 'hidden' },
    body: '{"value":"hidden"}',
  });
  expect(full).toMatchObject({ has_body: true });
  expect(full.header_names.toSorted()).toEqual(['Content-Type', 'X-Order', 'X-Tenant', 'x-key']);
  expect(JSON.stringify(full)).not.toContain('hidden');
  const bare = await delivery({ endpoint: 'https://example.com/hook' });
  expect(bare).toMatchObject({ header_names: [], has_body: false });
});

test('an unknown delivery is not found', async () => {
  const harness = await open();
  expect((await harness.get('deliveries/dlv_00000000000000000000000000/details')).status).toBe(404);
  expect((await harness.get('deliveries/nonsense/details')).status).toBe(404);
});
