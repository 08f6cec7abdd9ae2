import { describe, expect, test } from 'vitest';
import type { Delivery } from '#src/domain/delivery.ts';
import { defer } from '#src/domain/delivery-lifecycle.ts';
import type { DueDelivery } from '#src/domain/due-delivery.ts';
import { endpointKeyOf } from '#src/domain/endpoint-key.ts';
import { instant } from '#src/domain/instant.ts';
import type { ScheduleView } from '#src/domain/schedule.ts';
import { ALL_SLOTS, type Fence, type Slot, slotOf } from '#src/domain/slot.ts';
import { dueDeliveryOf } from '#src/ports/endpoint-cache.ts';
import type { Store } from '#src/ports/store.ts';
import { MINUTE_MS, START } from './builders.ts';
import { type Fixture, ownSuite, pendingOf, type Suite } from './fixture.ts';
import { Nodes } from './nodes.ts';

const THE_END = instant(Date.UTC(10_000, 0, 1));

/** Writes and scans that depend on the ownership of a slot. */
export function fencingContract(suite: Suite): void {
  describe('under a fence', () => {
    const own = ownSuite(suite);
    let run = 0;

    /** A waiting delivery in a slot that a node owns. */
    async function ownedDelivery(): Promise<{
      fixture: Fixture;
      view: ScheduleView;
      slot: Slot;
      fence: Fence;
    }> {
      const fixture = await own.fixture();
      const url = `https://example.com/${run++}`;
      const view = await fixture.addSchedule({ destination: { kind: 'inline', url, method: 'POST' } });
      const slot = slotAt(pendingOf(view));
      const nodes = new Nodes(own.store, instant(START + run * MINUTE_MS));
      return { fixture, view, slot, fence: await nodes.take('holder', [slot]) };
    }

    const writes: readonly (readonly [string, Write])[] = [
      ['a claim', (fixture, view) => (t) => fixture.store.claim([fixture.claim(pendingOf(view), view)], t)],
      [
        'an end',
        (fixture, view) => (t) => fixture.store.endUnsent([fixture.endUnsent(pendingOf(view), view)], t),
      ],
      [
        'a deferral',
        (fixture, view) => (t) =>
          fixture.store.defer([defer(pendingOf(view), instant(fixture.now + MINUTE_MS), false)], t),
      ],
    ];

    for (const [name, prepare] of writes) {
      test(`${name} succeeds while the node owns the slot`, async () => {
        const { fixture, view, fence } = await ownedDelivery();
        expect(await prepare(fixture, view)(fence)).toEqual(['done']);
        expect(await fixture.delivery(pendingOf(view).id)).not.toEqual(pendingOf(view));
      });

      test(`${name} is stale and changes nothing in another epoch, by another node or for another slot`, async () => {
        const { fixture, view, slot, fence } = await ownedDelivery();
        const write = prepare(fixture, view);
        const epoch = fence.epochs.get(slot) ?? Number.NaN;
        const wrong: readonly Fence[] = [
          { ...fence, epochs: new Map([[slot, epoch - 1]]) },
          { ...fence, epochs: new Map([[slot, epoch + 1]]) },
          { ...fence, epochs: new Map([[otherThan(slot), epoch]]) },
          { ...fence, epochs: new Map() },
          { ...fence, node: 'another' },
        ];
        for (const one of wrong) expect(await fixture.changesNothing(() => write(one))).toEqual(['stale']);
        expect(await write(fence)).toEqual(['done']);
      });

      test(`${name} is stale and changes nothing after the slot was released or taken by another node`, async () => {
        const { fixture, view, slot, fence } = await ownedDelivery();
        const write = prepare(fixture, view);
        await fixture.store.releaseSlots(fence);
        expect(await fixture.changesNothing(() => write(fence))).toEqual(['stale']);
        const next = await new Nodes(own.store, instant(START + run * MINUTE_MS)).take('next', [slot]);
        expect(await fixture.changesNothing(() => write(fence))).toEqual(['stale']);
        expect(await write(next)).toEqual(['done']);
      });
    }

    test('each verb of a batch is checked on its own', async () => {
      const { fixture, view, fence } = await ownedDelivery();
      const others: ScheduleView[] = [];
      while (others.length < 3) {
        const url = `https://example.com/other/${run++}`;
        const made = fixture.schedule({ destination: { kind: 'inline', url, method: 'POST' } });
        if (!fence.epochs.has(slotAt(made.pending))) others.push(await fixture.addMade(made));
      }
      const views = [others[0], view, others[1], others[2]].filter((one) => one !== undefined);
      const claims = views.map((one) => fixture.claim(pendingOf(one), one));
      expect(await fixture.store.claim(claims, fence)).toEqual(['stale', 'done', 'stale', 'stale']);
    });

    test('gates are saved only for slots that the node owns', async () => {
      const { fixture, view, fence } = await ownedDelivery();
      const endpoint = endpointKeyOf(pendingOf(view).target);
      const gateNow = async () => (await fixture.load(pendingOf(view))).gate;
      const saved = fixture.gate(endpoint);
      await fixture.store.saveGates([saved], fence);
      expect(await gateNow()).toEqual(saved.gate);
      await fixture.store.saveGates([fixture.gate(endpoint, { gate: null })], { ...fence, node: 'another' });
      await fixture.store.saveGates([fixture.gate(endpoint, { gate: null })], {
        ...fence,
        epochs: new Map(),
      });
      expect(await gateNow()).toEqual(saved.gate);
      await fixture.store.releaseSlots(fence);
      await fixture.store.saveGates([fixture.gate(endpoint, { gate: null })], fence);
      expect(await gateNow()).toEqual(saved.gate);
    });
  });

  describe('a scan for due deliveries of some slots', () => {
    const own = ownSuite(suite);

    test.for([1, 3, 50])(
      'in pages of %i finds what is there, in its order, and nothing else',
      async (limit) => {
        const fixture = await own.fixture();
        const made: Delivery[] = [];
        for (let i = 0; i < 40; i++) {
          const destination = {
            kind: 'inline',
            url: `https://example.com/${i % 20}`,
            method: 'POST',
          } as const;
          const timing = fixture.oneShot(((i * 7) % 5) * MINUTE_MS + 1);
          made.push(pendingOf(await fixture.addSchedule({ destination, timing })));
        }
        const slots = new Set([...new Set(made.map(slotAt))].filter((_, index) => index % 2 === 0));
        const everything = await allDue(fixture.store, 1_000);
        const expected = everything.filter(({ partition, endpoint }) =>
          slots.has(slotOf(partition, endpoint)),
        );
        expect(expected.length).toBeGreaterThan(10);
        expect(expected.length).toBeLessThan(everything.length);
        expect(await allDue(fixture.store, limit, slots)).toEqual(expected);
        expect(await fixture.store.listDue(null, THE_END, limit, new Set())).toEqual([]);
        expect(await allDue(fixture.store, limit, new Set(ALL_SLOTS))).toEqual(everything);
      },
    );

    test('finds a delivery to a profile in the slot of the profile', async () => {
      const fixture = await own.fixture();
      const profile = await fixture.addProfile();
      const addition = fixture.scheduleOn(profile);
      await fixture.store.addSchedule(addition);
      const { pending } = addition;
      const found = await allDue(fixture.store, 100, new Set([slotAt(pending)]));
      expect(found).toContainEqual(dueDeliveryOf(pending));
      const others = new Set(ALL_SLOTS.filter((slot) => slot !== slotAt(pending)));
      expect((await allDue(fixture.store, 100, others)).map(({ id }) => id)).not.toContain(pending.id);
    });
  });
}

type Write = (
  fixture: Fixture,
  view: ScheduleView,
) => (fence: Fence) => Promise<readonly ('done' | 'stale')[]>;

function slotAt({ partition, target }: Pick<Delivery, 'partition' | 'target'>): Slot {
  return slotOf(partition, endpointKeyOf(target));
}

function otherThan(slot: Slot): Slot {
  return (slot === 0 ? 1 : 0) as Slot;
}

async function allDue(
  store: Store,
  limit: number,
  slots?: ReadonlySet<Slot>,
): Promise<readonly DueDelivery[]> {
  const found: DueDelivery[] = [];
  for (;;) {
    const page = await store.listDue(found.at(-1) ?? null, THE_END, limit, slots);
    expect(page.length).toBeLessThanOrEqual(limit);
    found.push(...page);
    if (page.length < limit) return found;
  }
}
