/** Deliveries through endpoint profiles keep the version of the profile that they were created with. */
import { describe, expect, it } from 'vitest';
import { planted } from '#test/e2e/client.ts';
import { createdProfile, deliveriesOf, ms, patchedProfile, rescheduled } from '#test/e2e/expectations.ts';
import { answer, delayed } from '#test/receiver/behaviours.ts';
import { headerOf } from '#test/receiver/receiver.ts';
import { useDeliveries } from './harness.ts';
import { waitForEnd, waitForStatus } from './waits.ts';

const { api, hook, given } = useDeliveries();

describe.concurrent('an edit of the profile', () => {
  it('does not change the pending delivery, but applies to the next schedule', async () => {
    const before = hook(delayed(300, answer(200)));
    const after = hook();
    const { id } = await createdProfile(api, {
      url: before.url,
      method: 'PUT',
      headers: { 'X-Version': planted('1') },
      timeout: '10s',
    });
    const first = await given({ endpoint_id: id });
    expect(first.pending).toMatchObject({ endpoint_id: id, endpoint_version: 1 });
    await patchedProfile(api, id, {
      url: after.url,
      method: 'PATCH',
      headers: { 'X-Version': planted('2') },
      timeout: '1ms',
      retry_policy: { max_attempts: 1 },
    });
    await patchedProfile(api, id, { timeout: '10s' });
    const second = await given({ endpoint_id: id });
    expect(second.pending).toMatchObject({ endpoint_id: id, endpoint_version: 3 });

    const old = await before.arrived();
    expect([old.method, headerOf(old, 'X-Version')]).toEqual(['PUT', planted('1')]);
    const fresh = await after.arrived();
    expect([fresh.method, headerOf(fresh, 'X-Version')]).toEqual(['PATCH', planted('2')]);
    await waitForStatus(api, first.pending.id, 'succeeded');
    await waitForStatus(api, second.pending.id, 'succeeded');
    expect([before.requests.length, after.requests.length]).toEqual([1, 1]);
  });

  it('does not change a delivery that waits for a retry', async () => {
    const before = hook(answer(500), answer(200));
    const after = hook();
    const policy = { base: '700ms', factor: 1 };
    const { id } = await createdProfile(api, { url: before.url, retry_policy: policy });
    const { pending } = await given({ endpoint_id: id });
    await waitForStatus(api, pending.id, 'retry_scheduled');
    await patchedProfile(api, id, { url: after.url });
    await waitForStatus(api, pending.id, 'succeeded');
    expect([before.requests.length, after.requests.length]).toEqual([2, 0]);
  });

  it('does not change the pending occurrence of a recurring schedule, but the one after it', async () => {
    const before = hook();
    const after = hook();
    const { id } = await createdProfile(api, { url: before.url });
    const { id: scheduleId, pending } = await given({ endpoint_id: id, cron: '0 0 1 1 *' });
    await patchedProfile(api, id, { url: after.url });
    await rescheduled(api, scheduleId, { delay: '1s' });
    await waitForStatus(api, pending.id, 'succeeded');
    expect(before.requests).toHaveLength(1);

    const [next] = await deliveriesOf(api, scheduleId);
    expect(next).toMatchObject({ status: 'scheduled', endpoint_version: 2 });
    await rescheduled(api, scheduleId, { delay: '1s' });
    await waitForStatus(api, next?.id ?? '', 'succeeded');
    expect([before.requests.length, after.requests.length]).toEqual([1, 1]);
  });
});

describe.concurrent('retry_policy', () => {
  it('unset on the schedule: the profile’s policy applies', async () => {
    const target = hook(answer(500));
    const policy = { max_attempts: 2, base: '40ms', factor: 1 };
    const { id } = await createdProfile(api, { url: target.url, retry_policy: policy });
    const { pending } = await given({ endpoint_id: id });
    const { delivery, attempts } = await waitForEnd(api, pending.id);
    expect(delivery).toMatchObject({ status: 'dead_letter', attempt_count: 2 });
    expect(ms(attempts[1]?.due_at) - ms(attempts[0]?.finished_at)).toBe(40);
  });

  it('set on the schedule: the schedule’s policy applies', async () => {
    const target = hook(answer(500));
    const { id } = await createdProfile(api, { url: target.url, retry_policy: { max_attempts: 2 } });
    const { pending } = await given({ endpoint_id: id, retry_policy: { max_attempts: 1 } });
    expect((await waitForEnd(api, pending.id)).delivery).toMatchObject({
      status: 'dead_letter',
      attempt_count: 1,
    });
  });
});

describe.concurrent('timeout', () => {
  it('an answer within the timeout counts', async () => {
    const { id } = await createdProfile(api, { url: hook(delayed(300, answer(200))).url, timeout: '5s' });
    const { pending } = await given({ endpoint_id: id });
    expect((await waitForEnd(api, pending.id)).delivery.status).toBe('succeeded');
  });
});
