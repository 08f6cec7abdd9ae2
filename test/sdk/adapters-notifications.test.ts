/** All four adapters give the handler a notification and an alert, read and verified. */
import { describe, expect, it } from 'vitest';
import { MemoryStore, type ReceivedDelivery } from '#sdk/receiver/index.ts';
import { WEBHOOK_EXAMPLES } from '#src/api/contract/webhook-examples.ts';
import { ADAPTERS } from './adapter-servers.ts';
import { type Sending, send } from './send.ts';
import { DELIVERY_ID, SECRET } from './signing.ts';

const EMPTY = { status: 204, text: '' };
const OTHER_ID = 'dlv_01jd5x3v8k2m4n6p8r0t2w4y6b';
const { notification, alert } = WEBHOOK_EXAMPLES;
const NOTIFICATION = { ...notification.default.value, id: DELIVERY_ID };
const ALERT = { ...alert.default.value, id: DELIVERY_ID };

/** The service sends JSON with this type. */
function composed(body: unknown): Sending {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  return { body: text, headers: { 'Content-Type': 'application/json' } };
}

describe.concurrent.each(ADAPTERS)('$name', ({ start }) => {
  async function started(deliveries: ReceivedDelivery[]) {
    return start({
      secret: SECRET,
      deduplicate: new MemoryStore(),
      handle: (delivery) => {
        deliveries.push(delivery);
      },
    });
  }

  it('a notification is read', async () => {
    const deliveries: ReceivedDelivery[] = [];
    await using running = await started(deliveries);
    expect(await send(running.port, composed(NOTIFICATION))).toEqual(EMPTY);
    const [delivery] = deliveries;
    expect(delivery?.notification).toEqual(NOTIFICATION);
    expect(delivery?.notification).toBe(delivery?.notification);
    expect(delivery?.alert).toBeNull();
    const { notification: got = null } = delivery ?? {};
    expect(got?.type === 'delivery.dead_letter' && got.data.delivery.status).toBe('dead_letter');
  });

  it('an alert is read', async () => {
    const deliveries: ReceivedDelivery[] = [];
    await using running = await started(deliveries);
    expect(await send(running.port, composed(ALERT))).toEqual(EMPTY);
    expect([deliveries[0]?.alert, deliveries[0]?.notification]).toEqual([ALERT, null]);
  });

  it('the next attempt and a replay of a notification are not handled again', async () => {
    const deliveries: ReceivedDelivery[] = [];
    await using running = await started(deliveries);
    const idempotencyKey = DELIVERY_ID;
    const sending = { ...composed(NOTIFICATION), idempotencyKey };
    expect(await send(running.port, sending)).toEqual(EMPTY);
    expect((await send(running.port, { ...sending, attempt: 2 })).status).toBe(200);
    const replay = { ...composed({ ...NOTIFICATION, id: OTHER_ID }), idempotencyKey, deliveryId: OTHER_ID };
    expect((await send(running.port, replay)).status).toBe(200);
    expect(deliveries).toHaveLength(1);
  });

  it('a notification that somebody else signed, or that was changed, does not arrive', async () => {
    const deliveries: ReceivedDelivery[] = [];
    await using running = await started(deliveries);
    const sending = composed(NOTIFICATION);
    expect((await send(running.port, { ...sending, secrets: ['whsec_other'] })).status).toBe(401);
    const body = JSON.stringify({ ...NOTIFICATION, type: 'delivery.succeeded' });
    expect((await send(running.port, { ...sending, arrives: { body } })).status).toBe(401);
    expect(deliveries).toEqual([]);
  });

  it.each([
    ['is not JSON', '{'],
    ['is empty', ''],
    ['is other JSON', '{"type":"delivery.dead_letter"}'],
    ['is null', 'null'],
    [
      'is a notification that was sent on, which has another id',
      JSON.stringify({ ...NOTIFICATION, id: OTHER_ID }),
    ],
    ['is an alert that was sent on', JSON.stringify({ ...ALERT, id: OTHER_ID })],
    ['has a type that a later version added', JSON.stringify({ ...NOTIFICATION, type: 'delivery.canceled' })],
  ])('a body that %s is a delivery like every other', async (_what, body) => {
    const deliveries: ReceivedDelivery[] = [];
    await using running = await started(deliveries);
    expect(await send(running.port, composed(body))).toEqual(EMPTY);
    const [delivery] = deliveries;
    expect([delivery?.notification, delivery?.alert, delivery?.text()]).toEqual([null, null, body]);
  });

  it('keys with escapes are read by the reader of the SDK', async () => {
    const deliveries: ReceivedDelivery[] = [];
    await using running = await started(deliveries);
    const body = JSON.stringify(NOTIFICATION).replace('"type"', '"\\u0074ype"');
    expect(await send(running.port, composed(body))).toEqual(EMPTY);
    expect(deliveries[0]?.notification).toEqual(NOTIFICATION);
  });
});
