/** Notifications of outcomes in virtual time: when they are made, sent and limited. */
import { describe, expect, test } from 'vitest';
import type { Delivery } from '#src/domain/delivery.ts';
import { type EndpointProfile, editProfile } from '#src/domain/endpoint-profile.ts';
import { NOTIFIED_OUTCOMES } from '#src/domain/notify.ts';
import { DEFAULT_RETRY_POLICY } from '#src/domain/retry.ts';
import { Engine } from '#src/engine/engine.ts';
import type { OutboundRequest } from '#src/ports/egress.ts';
import {
  BROKEN,
  EngineHarness,
  OK,
  PARTITION,
  type ScheduleOptions,
  type Sent,
} from '#test/engine-harness.ts';
import { HOURLY } from '#test/store-contract/builders.ts';

const TELLER = 'https://tell.example/';
const ONCE = { ...DEFAULT_RETRY_POLICY, maxAttempts: 1 };

async function started(harness: EngineHarness): Promise<Engine> {
  const engine = new Engine(harness, { retentionMs: 0 });
  await engine.start();
  return engine;
}

function told({ id: endpointId }: EndpointProfile, on = NOTIFIED_OUTCOMES): Pick<ScheduleOptions, 'notify'> {
  return { notify: { endpointId, on } };
}

function isTold({ request }: Pick<Sent, 'request'>): boolean {
  return request.url.href.startsWith(TELLER);
}

async function notificationsOf(harness: EngineHarness, id: Delivery['id']): Promise<readonly Delivery[]> {
  const filter = { status: null, scheduleId: null, createdAfter: null, createdBefore: null };
  return harness.disk.listDeliveries(
    PARTITION,
    { ...filter, notificationOf: id },
    { before: null, limit: 100 },
  );
}

async function onlyNotification(harness: EngineHarness, id: Delivery['id']): Promise<Delivery> {
  const [notification, ...others] = await notificationsOf(harness, id);
  if (notification === undefined || others.length > 0)
    throw new Error(`There are ${others.length}, not one.`);
  return notification;
}

function bodyOf({ body }: OutboundRequest) {
  return JSON.parse(Buffer.from(body ?? []).toString()) as { type: string; id: string; data: object };
}

describe('the notification of a delivery', () => {
  test('is made with its end, and sent at once', async () => {
    await using harness = await EngineHarness.open();
    const profile = await harness.profile({ url: TELLER });
    const { pending } = await harness.schedule({ ...told(profile), metadata: [['team', 'ops']] });
    await started(harness);
    await harness.time.advance(5_000);
    const notification = await onlyNotification(harness, pending.id);
    expect(notification).toMatchObject({ status: 'succeeded', createdAt: harness.now, attemptCount: 1 });
    expect(harness.egress.sent.map(({ at }) => at)).toEqual([harness.now, harness.now]);
    expect(harness.metrics.latenesses.every(([, seconds]) => seconds === 0)).toBe(true);
    expect(bodyOf(harness.egress.sent[1]?.request ?? ({ body: null } as OutboundRequest))).toMatchObject({
      type: 'delivery.succeeded',
      id: notification.id,
      data: { delivery: { id: pending.id }, schedule: { metadata: { team: 'ops' } } },
    });
  });

  test('is made when a delivery ends without an attempt, and its recurrence continues', async () => {
    await using harness = await EngineHarness.open();
    const profile = await harness.profile({ url: TELLER });
    const { schedule, pending } = await harness.schedule({ ...told(profile), timing: HOURLY, ttl: '1s' });
    await harness.time.advance(2 * 3_600_000);
    await started(harness);
    await harness.time.advance(1_000);
    expect((await harness.delivery(pending.id)).status).toBe('expired');
    expect(await onlyNotification(harness, pending.id)).toMatchObject({ status: 'succeeded' });
    expect((await harness.disk.findSchedule(PARTITION, schedule.id))?.pending?.status).toBe('scheduled');
  });

  test('is made once if the store was away when the delivery ended', async () => {
    await using harness = await EngineHarness.open();
    const profile = await harness.profile({ url: TELLER });
    const { pending } = await harness.schedule(told(profile));
    await started(harness);
    harness.faults.set('loses', 'settle');
    harness.faults.set('refuses', 'findNotificationSource');
    await harness.time.advance(6_000);
    expect(await notificationsOf(harness, pending.id)).toEqual([]);
    harness.faults.clear();
    harness.faults.set('loses', 'settle');
    await harness.time.advance(1_000);
    harness.faults.clear();
    await harness.time.advance(5_000);
    expect(await onlyNotification(harness, pending.id)).toMatchObject({ status: 'succeeded' });
  });

  test('is made by recovery if the process died during the last attempt', async () => {
    await using harness = await EngineHarness.open();
    const profile = await harness.profile({ url: TELLER });
    const view = await harness.schedule({ ...told(profile), retryPolicy: ONCE });
    await harness.time.advance(5_000);
    expect(await harness.disk.claim([harness.build.claim(view.pending, view, 'dead-node')])).toEqual([
      'done',
    ]);
    await started(harness);
    await harness.time.advance(1_000);
    expect((await harness.delivery(view.pending.id)).status).toBe('dead_letter');
    expect(await onlyNotification(harness, view.pending.id)).toMatchObject({ status: 'succeeded' });
  });

  test('that was claimed by a process that died is sent again', async () => {
    await using harness = await EngineHarness.open();
    const profile = await harness.profile({ url: TELLER });
    const { pending } = await harness.schedule(told(profile));
    harness.egress.respond = (request) => (request.url.href === TELLER ? null : OK);
    const engine = await started(harness);
    await harness.time.advance(5_000);
    const stopped = engine.stop(100);
    await harness.time.advance(200);
    await stopped;
    harness.egress.respond = () => OK;
    await started(harness);
    await harness.time.advance(60_000);
    expect(await onlyNotification(harness, pending.id)).toMatchObject({
      status: 'succeeded',
      attemptCount: 2,
    });
  });
});

describe('a notification that waits', () => {
  test('takes the version that its profile has at the first claim, and its policy', async () => {
    await using harness = await EngineHarness.open();
    const profile = await harness.profile({ url: TELLER }, [['X-Version', '1']]);
    harness.egress.respond = (request) => (request.url.href === TELLER ? BROKEN : OK);
    // Failures open the breaker of the profile, so the notification waits.
    for (let count = 0; count < 5; count++)
      await harness.schedule({ profile, retryPolicy: ONCE, inMs: 1_000 });
    const { pending } = await harness.schedule(told(profile));
    await started(harness);
    await harness.time.advance(6_000);
    expect(await onlyNotification(harness, pending.id)).toMatchObject({
      status: 'scheduled',
      target: { url: TELLER, endpointVersion: 1 },
    });
    const edited = editProfile(
      profile,
      { url: `${TELLER}moved`, method: 'PUT', headerNames: [], retryPolicy: { ...ONCE, maxAttempts: 3 } },
      harness.now,
    );
    expect(await harness.disk.replaceProfile({ profile: edited, headers: null, receipt: null })).toBe('done');
    harness.egress.respond = () => OK;
    await harness.time.advance(60_000);
    expect(await onlyNotification(harness, pending.id)).toMatchObject({
      status: 'succeeded',
      target: { url: `${TELLER}moved`, method: 'PUT', endpointVersion: 2 },
      retryPolicy: { maxAttempts: 3 },
    });
    const last = harness.egress.sent.at(-1)?.request;
    expect([last?.url.href, last?.method]).toEqual([`${TELLER}moved`, 'PUT']);
    expect(last?.headers.some(([name]) => name === 'X-Version')).toBe(false);
  });

  test('is sent with at most 50 others each second to one endpoint, and no schedule waits for them', async () => {
    await using harness = await EngineHarness.open();
    const profile = await harness.profile({ url: TELLER });
    const count = 200;
    for (let made = 0; made < count; made++) {
      await harness.schedule({ ...told(profile), url: `https://example.com/${made}` });
    }
    await harness.schedule({ profile, inMs: 5_500, rateLimit: { perSecond: 50 } });
    await started(harness);
    await harness.time.advance(5_000);
    const beginsAt = harness.now;
    await harness.time.advance(1_000);
    const sent = () => harness.egress.sent.filter(isTold).map(({ at }) => at - beginsAt);
    // Only the first few are hinted. A scan finds the others.
    expect(sent().filter((at) => at < 200)).toHaveLength(10);
    expect(sent().length).toBeGreaterThan(20);
    expect(sent()).toContain(500);
    await harness.time.advance(4_500);
    const all = sent().toSorted((a, b) => a - b);
    expect(all).toHaveLength(count + 1);
    for (const [index, at] of all.entries()) {
      const window = all.slice(index).filter((other) => other < at + 1_000);
      expect(window.length).toBeLessThanOrEqual(51);
    }
  });

  test('does not wait for a scan while there are fewer than 50 a second', async () => {
    await using harness = await EngineHarness.open();
    const profile = await harness.profile({ url: TELLER });
    const everyMs = 25;
    const count = 120;
    for (let made = 0; made < count; made++) {
      const inMs = 5_000 + made * everyMs;
      await harness.schedule({ ...told(profile), url: `https://example.com/${made}`, inMs });
    }
    await started(harness);
    const beginsAt = harness.now + 5_000;
    await harness.time.advance(5_000 + count * everyMs);
    const sent = harness.egress.sent.filter(isTold).map(({ at }) => at - beginsAt);
    expect(sent).toEqual(Array.from({ length: count }, (_, made) => made * everyMs));
  });
});
