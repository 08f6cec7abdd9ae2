/** History is kept as long as `SCHED_RETENTION` says; what is still to fire stays. */
import { expect, it, vi } from 'vitest';
import { Api } from '#test/e2e/client.ts';
import { created, expectError, expectStatus, onlyDelivery } from '#test/e2e/expectations.ts';
import { answer } from '#test/receiver/behaviours.ts';
import { startReceiver } from '#test/receiver/receiver.ts';
import { startService, TEST_KEY } from './harness.ts';

const RETENTION = { SCHED_RETENTION: '1s' };
const PATIENCE = { timeout: 20_000, interval: 100 };

it('finished deliveries, their attempts and ended schedules go; active ones stay', async () => {
  await using receiver = await startReceiver();
  await using sched = await startService(undefined, RETENTION);
  const api = Api.at(() => sched.url).as(TEST_KEY);
  const hook = receiver.hook(answer(200));
  const kept = await created(api, { endpoint: hook.url, cron: '0 0 1 1 *' });
  const { id } = await created(api, { endpoint: hook.url, delay: '1s' });
  const delivery = await onlyDelivery(api, id);
  await hook.arrived(1);

  await vi.waitFor(async () => expectError(await api.get(`/v1/schedules/${id}`), 404, 'not_found'), PATIENCE);
  expectError(await api.get(`/v1/deliveries/${delivery.id}`), 404, 'not_found');
  expectError(await api.get(`/v1/deliveries/${delivery.id}/attempts`), 404, 'not_found');
  expectStatus(await api.get(`/v1/schedules/${kept.id}`), 200);
  expect((await onlyDelivery(api, kept.id)).status).toBe('scheduled');
});
