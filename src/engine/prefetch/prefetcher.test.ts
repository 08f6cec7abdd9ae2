/** The engine prepares deliveries before their instant, within bounds. */
import { describe, expect, test } from 'vitest';
import type { DueDelivery } from '#src/domain/due-delivery.ts';
import type { BreakerPolicy } from '#src/domain/endpoint-profile.ts';
import type { DeliveryId } from '#src/domain/id.ts';
import { instant } from '#src/domain/instant.ts';
import type { Partition } from '#src/domain/project.ts';
import { cancel, edit, pause, reschedule } from '#src/domain/schedule-lifecycle.ts';
import { RequestBuilder, SMALL_PAYLOAD_BYTES_MAX } from '#src/engine/attempt/request-builder.ts';
import { OWNS_EVERY_SLOT } from '#src/engine/cluster/slot-ownership.ts';
import { Engine } from '#src/engine/engine.ts';
import { Gates } from '#src/engine/gate/gates.ts';
import { BROKEN, EngineHarness, headerOf, overridden, requireDue } from '#test/engine-harness.ts';
import { CONNECTIONS_MAX } from './connection-warmer.ts';
import { Prefetcher, type PrefetcherDependencies } from './prefetcher.ts';

const IDLE: PrefetcherDependencies['load'] = { level: 'idle', isShared: false };

async function started(harness: EngineHarness): Promise<Engine> {
  const engine = new Engine(harness, { retentionMs: 0 });
  await engine.start();
  return engine;
}

describe('at its instant', () => {
  test('a delivery is claimed, signed and sent, and everything else was read before', async () => {
    await using harness = await EngineHarness.open();
    await harness.schedule({ payload: { headers: [['X-Own', 'o']], body: '{}' } });
    await started(harness);
    await harness.time.advance(4_999);
    expect(harness.faults.times('loadPayloads')).toBe(1);
    const before = harness.faults.asked.length;
    await harness.time.advance(1);
    const [sent] = harness.egress.sent;
    expect(sent?.at).toBe(harness.now);
    expect(sent && headerOf(sent.request, 'X-Own')).toBe('o');
    expect(sent && headerOf(sent.request, 'Sched-Timestamp')).toBe(String(Math.floor(harness.now / 1_000)));
    expect(harness.faults.asked.slice(before).filter((verb) => verb !== 'listSweeps')).toEqual([
      'claim',
      'listSecrets',
      'settle',
    ]);
  });

  test('a delivery with a profile is read again, because policies may have changed, but its payload is not', async () => {
    await using harness = await EngineHarness.open();
    const profile = await harness.profile({}, [['X-EndpointProfile', 'p']]);
    await harness.schedule({ profile });
    await started(harness);
    await harness.time.advance(4_999);
    const before = harness.faults.asked.length;
    await harness.time.advance(1);
    expect(harness.egress.header('X-EndpointProfile')).toEqual(['p']);
    expect(harness.faults.asked.slice(before).filter((verb) => verb !== 'listSweeps')).toEqual([
      'loadDeliveries',
      'claim',
      'listSecrets',
      'hasEndpointSecrets',
      'settle',
    ]);
  });

  test('a delivery that could not be prefetched is read at its instant', async () => {
    await using harness = await EngineHarness.open();
    const { pending } = await harness.schedule();
    await started(harness);
    harness.faults.set('refuses', 'loadPayloads');
    await harness.time.advance(4_990);
    harness.faults.clear();
    await harness.time.advance(10);
    expect(harness.egress.sent.map(({ at }) => at)).toEqual([pending.scheduledFor]);
  });

  test('the current gate counts, not the one that was prefetched', async () => {
    await using harness = await EngineHarness.open();
    const breakerPolicy: BreakerPolicy = { threshold: 1, baseOpen: '10s', maxOpen: '1m', probeTimeout: '5s' };
    const profile = await harness.profile({ breakerPolicy });
    const first = await harness.schedule({ profile, inMs: 5_000 });
    const second = await harness.schedule({ profile, inMs: 5_500 });
    harness.egress.respond = () => BROKEN;
    await started(harness);
    await harness.time.advance(6_000);
    expect(harness.egress.header('Sched-Delivery-Id')).toEqual([first.pending.id]);
    expect((await harness.delivery(second.pending.id)).dueAt).toBe(first.pending.scheduledFor + 10_000);
  });
});

describe('a delivery that was changed after it was prefetched', () => {
  test.for([
    ['canceled', cancel],
    ['paused', pause],
  ] as const)('is not sent when it was %s, hint or no hint', async ([, order]) => {
    await using harness = await EngineHarness.open();
    const { schedule } = await harness.schedule();
    await started(harness);
    await harness.time.advance(4_900);
    await harness.change(schedule.id, (view) => order(view, harness.now));
    await harness.time.advance(10_000);
    expect(harness.egress.sent).toEqual([]);
  });

  test('is sent in its new form, in time, also without a hint', async () => {
    await using harness = await EngineHarness.open();
    const { schedule, pending } = await harness.schedule();
    await started(harness);
    await harness.time.advance(4_900);
    const endpoint = 'https://example.com/hook?moved=1';
    await harness.change(schedule.id, (view) => edit(view, { endpoint }, harness.now));
    await harness.time.advance(100);
    expect(harness.egress.sent.map(({ request, at }) => [request.url.href, at])).toEqual([
      [endpoint, pending.scheduledFor],
    ]);
  });

  test('is sent at the new instant when it was moved', async () => {
    await using harness = await EngineHarness.open();
    const { schedule, pending } = await harness.schedule();
    const engine = await started(harness);
    await harness.time.advance(4_900);
    const timing = harness.build.oneShot(700);
    await harness.change(schedule.id, (view) => reschedule(view, timing, harness.now));
    engine.due(requireDue(await harness.delivery(pending.id)));
    await harness.time.advance(5_000);
    expect(harness.egress.sent.map(({ at }) => at - pending.scheduledFor)).toEqual([600]);
  });
});

describe('connections', () => {
  test('are opened ahead, as many as there are requests to an origin within a moment', async () => {
    await using harness = await EngineHarness.open();
    for (const path of ['a', 'b', 'c']) await harness.schedule({ url: `https://example.com/${path}` });
    const { pending } = await harness.schedule({ url: 'https://example.org/' });
    await started(harness);
    await harness.time.advance(4_000);
    expect(harness.egress.warmed).toMatchObject([
      { origin: 'https://example.com', connections: 3 },
      { origin: 'https://example.org', connections: 1 },
    ]);
    expect(harness.egress.warmed.every(({ at }) => at < pending.scheduledFor)).toBe(true);
  });

  test('are opened for one delivery under a rate limit, and for each further one once its token is reserved', async () => {
    await using harness = await EngineHarness.open();
    for (let at = 0; at < 5; at++) await harness.schedule({ rateLimit: { perSecond: 1 } });
    await harness.schedule({ rateLimit: { perSecond: 1 }, url: 'https://example.com/another' });
    await started(harness);
    await harness.time.advance(4_999);
    expect(harness.egress.warmed).toMatchObject([{ origin: 'https://example.com', connections: 2 }]);
    await harness.time.advance(5_000);
    expect(harness.egress.sent).toHaveLength(6);
    expect(Math.max(...harness.egress.warmed.map(({ connections }) => connections))).toBe(2);
  });

  test('are bounded', async () => {
    await using harness = await EngineHarness.open();
    for (let at = 0; at <= CONNECTIONS_MAX; at++) await harness.schedule();
    await started(harness);
    await harness.time.advance(4_999);
    expect(harness.egress.warmed.at(-1)?.connections).toBe(CONNECTIONS_MAX);
  });

  test('are not opened while the breaker is open', async () => {
    await using harness = await EngineHarness.open();
    const breakerPolicy: BreakerPolicy = { threshold: 1, baseOpen: '1m', maxOpen: '1m', probeTimeout: '5s' };
    const profile = await harness.profile({ breakerPolicy });
    harness.egress.respond = () => BROKEN;
    await harness.schedule({ profile });
    await started(harness);
    await harness.time.advance(10_000);
    const asked = harness.egress.warmed.length;
    await harness.schedule({ profile });
    await harness.time.advance(4_999);
    expect(harness.egress.warmed).toHaveLength(asked);
  });
});

describe('the prefetcher', () => {
  function prefetcherOf(harness: EngineHarness, own: Partial<PrefetcherDependencies> = {}): Prefetcher {
    const ownership = own.ownership ?? OWNS_EVERY_SLOT;
    const gates = new Gates(harness, ownership);
    const builder = new RequestBuilder(harness);
    const { store, egress, clock, timers } = harness;
    return new Prefetcher({ store, egress, clock, timers, ownership, gates, builder, load: IDLE, ...own });
  }

  test('waits while the engine is busy', async () => {
    await using harness = await EngineHarness.open();
    const due = requireDue((await harness.schedule()).pending);
    const load: { level: 'busy' | 'some'; isShared: false } = { level: 'busy', isShared: false };
    const prefetcher = prefetcherOf(harness, { load });
    prefetcher.want(due);
    await harness.time.advance(1_000);
    expect(harness.faults.asked).toEqual([]);
    load.level = 'some';
    await harness.time.advance(100);
    expect(prefetcher.take(due)?.loaded.delivery.id).toBe(due.id);
    expect(prefetcher.take(due)).toBeNull();
  });

  test('drops deliveries that came due meanwhile', async () => {
    await using harness = await EngineHarness.open();
    const prefetcher = prefetcherOf(harness, { load: { level: 'busy', isShared: false } });
    prefetcher.want(requireDue((await harness.schedule()).pending));
    await harness.time.advance(5_100);
    expect(harness.time.pending).toBe(0);
  });

  test('keeps a delivery that waits for its endpoint while there is room, because a burst may take seconds', async () => {
    await using harness = await EngineHarness.open();
    const due = requireDue((await harness.schedule({ inMs: 2_000 })).pending);
    const prefetcher = prefetcherOf(harness);
    prefetcher.want(due);
    await harness.time.advance(9_000);
    expect(prefetcher.take(due)?.loaded.delivery.id).toBe(due.id);
  });

  test('keeps nothing for long after its instant', async () => {
    await using harness = await EngineHarness.open();
    const due = requireDue((await harness.schedule({ inMs: 2_000 })).pending);
    const prefetcher = prefetcherOf(harness);
    prefetcher.want(due);
    await harness.time.advance(10_100);
    expect(prefetcher.take(due)).toBeNull();
    expect(harness.time.pending).toBe(0);
  });

  test('keeps nothing longer when the clock is set back', async () => {
    await using harness = await EngineHarness.open();
    const due = requireDue((await harness.schedule()).pending);
    const prefetcher = prefetcherOf(harness);
    prefetcher.want(due);
    await harness.time.advance(10);
    harness.time.setClock(-3_600_000);
    await harness.time.advance(10_100);
    expect(prefetcher.take(due)).toBeNull();
    expect(harness.time.pending).toBe(0);
  });

  test('reads no large payload, only the delivery', async () => {
    await using harness = await EngineHarness.open();
    const body = 'x'.repeat(SMALL_PAYLOAD_BYTES_MAX + 1);
    const due = requireDue((await harness.schedule({ payload: { body } })).pending);
    const prefetcher = prefetcherOf(harness);
    prefetcher.want(due);
    await harness.time.advance(10);
    expect(prefetcher.take(due)).toMatchObject({ draft: null, loaded: { delivery: { id: due.id } } });
  });

  test('leaves room for other customers, however many deliveries one of them has', async () => {
    await using harness = await EngineHarness.open();
    const loadDeliveries = async (dues: readonly Pick<DueDelivery, 'id'>[]) =>
      dues.map(({ id }) => ({ ...work, delivery: { ...work.delivery, id } }));
    const due = requireDue((await harness.schedule({ payload: { body: 'x'.repeat(10_000) } })).pending);
    const [found] = await harness.store.loadDeliveries([due]);
    if (found === null || found === undefined) throw new Error('There is a delivery.');
    const work = found;
    const many = overridden(harness, { store: overridden(harness.store, { loadDeliveries }) });
    const prefetcher = prefetcherOf(many);
    for (let n = 0; n < 6_000; n++) prefetcher.want({ ...due, id: `dlv_${n}` as DeliveryId });
    await harness.time.advance(500);
    const isReady = (n: number) => prefetcher.take({ ...due, id: `dlv_${n}` as DeliveryId }) !== null;
    const ready = Array.from({ length: 6_000 }, (_, n) => isReady(n)).filter(Boolean).length;
    // One customer gets four fifths of 64 MiB. Each delivery takes 2 KiB more than its body.
    expect(ready * 12_300).toBeGreaterThan(50 * 1_048_576);
    expect(ready * 12_300).toBeLessThan(53 * 1_048_576);
  });

  test.for([
    [false, ['1 2 1 2 1 2']],
    [true, ['1 1 1', '2 2 2']],
  ] as const)('reads customer by customer if the store does: %s', async ([worksByCustomer, expected]) => {
    await using harness = await EngineHarness.open();
    const due = requireDue((await harness.schedule()).pending);
    const slices: string[] = [];
    const loadDeliveries = async (dues: readonly Pick<DueDelivery, 'partition'>[]) => {
      slices.push(dues.map(({ partition }) => partition).join(' '));
      return dues.map(() => null);
    };
    const store = overridden(harness.store, { worksByCustomer, loadDeliveries });
    const prefetcher = prefetcherOf(overridden(harness, { store }));
    for (let n = 0; n < 6; n++) {
      prefetcher.want({
        ...due,
        id: `dlv_${n}` as DeliveryId,
        partition: (1 + Math.floor(n / 3)) as Partition,
      });
    }
    await harness.time.advance(400);
    expect(slices).toEqual(expected);
  });

  test('gathers deliveries of each customer, and reads them even while the engine is busy, if the store works by customer', async () => {
    await using harness = await EngineHarness.open();
    const due = requireDue((await harness.schedule()).pending);
    const slices: number[] = [];
    const loadDeliveries = async (dues: readonly unknown[]) => {
      slices.push(dues.length);
      return dues.map(() => null);
    };
    const store = overridden(harness.store, { worksByCustomer: true, loadDeliveries });
    const load = { level: 'busy', isShared: true } as const;
    const prefetcher = prefetcherOf(overridden(harness, { store }), { load });
    for (let n = 0; n < 20; n++) {
      prefetcher.want({ ...due, id: `dlv_${n}` as DeliveryId });
      await harness.time.advance(10);
    }
    expect(slices).toEqual([20]);
  });

  test('does not hand over a delivery that was moved', async () => {
    await using harness = await EngineHarness.open();
    const due = requireDue((await harness.schedule()).pending);
    const prefetcher = prefetcherOf(harness);
    prefetcher.want(due);
    await harness.time.advance(10);
    expect(prefetcher.take({ ...due, dueAt: instant(due.dueAt + 1) })).toBeNull();
  });

  test('does not hand over a delivery of an earlier epoch of its slot', async () => {
    await using harness = await EngineHarness.open();
    const due = requireDue((await harness.schedule()).pending);
    let epoch = 1;
    const ownership = { ...OWNS_EVERY_SLOT, epochOf: () => epoch };
    const prefetcher = prefetcherOf(harness, { ownership });
    prefetcher.want(due);
    await harness.time.advance(10);
    epoch = 2;
    expect(prefetcher.take(due)).toBeNull();
  });

  test('keeps the gate of a prefetched delivery in memory until it is judged', async () => {
    await using harness = await EngineHarness.open();
    const due = requireDue((await harness.schedule()).pending);
    const gates = new Gates(harness, OWNS_EVERY_SLOT);
    const prefetcher = prefetcherOf(harness, { gates });
    prefetcher.want(due);
    await harness.time.advance(10);
    gates.beginAttempt(due);
    const policy: BreakerPolicy = { threshold: 9, baseOpen: '1s', maxOpen: '1s', probeTimeout: '1s' };
    gates.endAttempt(due, policy, 'failure', null, harness.now);
    await gates.save();
    const read = prefetcher.take(due)?.loaded.gate ?? null;
    expect(read).toBeNull();
    expect(gates.get(due, read).breaker.failures).toBe(1);
  });

  test('ends with the engine, and leaves no timer behind', async () => {
    await using harness = await EngineHarness.open();
    const due = requireDue((await harness.schedule()).pending);
    const prefetcher = prefetcherOf(harness);
    prefetcher.want(due);
    await harness.time.advance(10);
    prefetcher.stop();
    prefetcher.want(due);
    await harness.time.advance(10);
    expect([prefetcher.take(due), harness.time.pending]).toEqual([null, 0]);
  });
});
