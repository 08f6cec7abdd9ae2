import { describe, expect, test } from 'vitest';
import type { Delivery } from '#src/domain/delivery.ts';
import { isTerminal } from '#src/domain/delivery-lifecycle.ts';
import { endpointKeyOf } from '#src/domain/endpoint-key.ts';
import { type Instant, instant } from '#src/domain/instant.ts';
import type { ScheduleView } from '#src/domain/schedule.ts';
import * as life from '#src/domain/schedule-lifecycle.ts';
import { PRUNABLE, type Prunable } from '#src/ports/store.ts';
import { DAY_MS, FAILURE, HOUR_MS, HOURLY, SUCCESS, scheduleIdOf } from './builders.ts';
import { addScheduleWithEveryStatus, deliveriesOf } from './every-status.ts';
import { type Fixture, ownSuite, pendingOf, type Suite } from './fixture.ts';

const BATCH = 10;
const CALLS_MAX = 100;

export function retentionContract(suite: Suite): void {
  describe('retention', () => {
    const own = ownSuite(suite);

    test('removes deliveries finalized before an instant, with their attempts, and no others', async () => {
      const fixture = await own.fixture();
      const { schedule } = await addScheduleWithEveryStatus(fixture);
      fixture.tick();
      const atTheCut = await finish(fixture, await fixture.addSchedule());
      const cut = fixture.now;
      const before = await deliveriesOf(fixture, schedule.id);
      const [tried] = before;
      expect(await attemptsOf(fixture, tried)).toHaveLength(1);
      expect(await prune(fixture, 'deliveries', cut)).toBeGreaterThan(0);

      const kept = before.filter(({ status }) => !isTerminal(status));
      expect(await deliveriesOf(fixture, schedule.id)).toEqual(kept);
      expect(kept.length).toBeGreaterThan(5);
      expect(await attemptsOf(fixture, tried)).toEqual([]);
      expect(await fixture.delivery(atTheCut.id)).toEqual(atTheCut);
      expect(await attemptsOf(fixture, atTheCut)).toHaveLength(1);
      expect(await prune(fixture, 'deliveries', instant(cut + 1))).toBe(1);
      expect(await fixture.store.findDelivery(fixture.partition, atTheCut.id)).toBeNull();
      expect(await fixture.view(scheduleIdOf(atTheCut))).toMatchObject({ pending: null });
    });

    test('uses a trusted time that is stored', async () => {
      const fixture = await own.fixture();
      const { now } = fixture;
      const trusted = { seenAt: now, trustedAt: instant(now - DAY_MS), believedFrom: instant(now + HOUR_MS) };
      await fixture.store.saveTrustedTime(trusted);
      await fixture.reopen();
      expect(await fixture.store.findTrustedTime()).toEqual(trusted);
      const believed = { seenAt: now, trustedAt: now, believedFrom: null };
      await fixture.store.saveTrustedTime(believed);
      expect(await fixture.store.findTrustedTime()).toEqual(believed);
    });

    test('never removes deliveries that may still be sent, however old', async () => {
      const fixture = await own.fixture();
      const scheduled = await fixture.addSchedule();
      const recurring = await fixture.addSchedule({ timing: HOURLY });
      const paused = await fixture.addSchedule();
      await fixture.change(paused.schedule.id, (view) => life.pause(view, fixture.now));
      await fixture.addClaim(await fixture.addSchedule());
      await fixture.fire(pendingOf(await fixture.addSchedule()), FAILURE);
      const canceled = await fixture.addSchedule({ timing: HOURLY });
      await fixture.addClaim(canceled);
      await fixture.change(canceled.schedule.id, (view) => life.cancel(view, fixture.now));
      fixture.tick(1_000 * DAY_MS);

      const before = await fixture.everything();
      for (const what of PRUNABLE) await prune(fixture, what, fixture.now);
      const [after] = await fixture.everything();
      const waiting = before[0].deliveries.filter(({ status }) => !isTerminal(status));
      expect(after.deliveries).toEqual(waiting);
      expect(after.attempts).toEqual(before[0].attempts);
      expect(after.schedules.map(({ schedule }) => schedule)).toEqual(
        before[0].schedules.map(({ schedule }) => schedule),
      );
      expect(await fixture.view(scheduled.schedule.id)).toEqual(scheduled);
      expect(await fixture.view(recurring.schedule.id)).toEqual(recurring);
    });

    test('removes no more rows than its limit at a time', async () => {
      const fixture = await own.fixture();
      for (let i = 0; i < 23; i++) await finish(fixture, await fixture.addSchedule());
      const cut = fixture.tick();
      await drainOthers(fixture, cut);
      const answers: number[] = [];
      for (let i = 0; i < 4; i++) answers.push(await fixture.store.prune('deliveries', cut, BATCH));
      expect(answers).toEqual([10, 10, 3, 0]);
    });

    test('removes an ended schedule after its deliveries, with payload and labels', async () => {
      const fixture = await own.fixture();
      const metadata = [['kept', 'for-a-while']] as const;
      const payload = Uint8Array.of(1, 2, 3);
      const made = fixture.schedule({ metadata });
      await fixture.store.addSchedule({ ...made, payload, profile: null, receipt: null });
      await finish(fixture, await fixture.view(made.schedule.id));
      const canceled = await fixture.addSchedule({ metadata, timing: HOURLY });
      await fixture.change(canceled.schedule.id, (view) => life.cancel(view, fixture.now));
      const active = await fixture.addSchedule({ metadata });
      fixture.tick();
      const late = await fixture.addSchedule({ metadata });
      await finish(fixture, late);
      const labelled = () =>
        fixture.store.listSchedules(
          fixture.partition,
          { state: null, kind: null, labels: metadata },
          { before: null, limit: 9 },
        );

      const cut = fixture.now;
      await fixture.changesNothing(() => prune(fixture, 'schedules', cut));
      await prune(fixture, 'deliveries', instant(cut + 1));
      await prune(fixture, 'schedules', cut);
      const left = [late.schedule.id, active.schedule.id];
      expect((await labelled()).items.map(({ schedule }) => schedule.id)).toEqual(left);
      expect(await fixture.store.findSchedule(fixture.partition, made.schedule.id)).toBeNull();
      expect(await fixture.store.findPayload(fixture.partition, made.schedule.id, 1)).toBeNull();
      expect(await fixture.view(active.schedule.id)).toEqual(active);
      await prune(fixture, 'schedules', instant(cut + 1));
      expect((await labelled()).items.map(({ schedule }) => schedule.id)).toEqual([active.schedule.id]);
    });

    test('keeps an ended schedule with a replay, and continues with others', async () => {
      const fixture = await own.fixture();
      const held: Delivery[] = [];
      for (let i = 0; i < 2 * BATCH + 5; i++) {
        const finished = await finish(fixture, await fixture.addSchedule());
        held.push(await fixture.addReplay(finished));
      }
      const free: Delivery[] = [];
      for (let i = 0; i < BATCH; i++) free.push(await finish(fixture, await fixture.addSchedule()));
      const cut = fixture.tick();
      await prune(fixture, 'deliveries', cut);
      await prune(fixture, 'schedules', cut);
      const areLeft = async (deliveries: readonly Delivery[]) =>
        Promise.all(
          deliveries.map(
            async (delivery) =>
              (await fixture.store.findSchedule(fixture.partition, scheduleIdOf(delivery))) !== null,
          ),
        );
      expect(await areLeft(free)).toEqual(free.map(() => false));
      expect(await areLeft(held)).toEqual(held.map(() => true));
      for (const replay of held) expect((await fixture.load(replay)).delivery).toEqual(replay);

      for (const replay of held) await fixture.fire(replay, SUCCESS);
      await prune(fixture, 'deliveries', cut);
      await prune(fixture, 'schedules', cut);
      expect(await areLeft(held)).toEqual(held.map(() => true));
      await prune(fixture, 'deliveries', fixture.tick());
      await prune(fixture, 'schedules', cut);
      expect(await areLeft(held)).toEqual(held.map(() => false));
    });

    test('and a replay at the same time: the replay has its schedule or is stale', async () => {
      const fixture = await own.fixture();
      for (let round = 0; round < 20; round++) {
        const finished = await finish(fixture, await fixture.addSchedule());
        const cut = fixture.tick();
        await prune(fixture, 'deliveries', cut);
        const replay = () =>
          fixture.store.addReplay({ delivery: fixture.replay(finished), receipt: fixture.receipt() });
        const verbs = [() => fixture.store.prune('schedules', cut, 1_000), replay];
        const answers = await Promise.all(
          (round % 2 === 0 ? verbs : verbs.toReversed()).map((verb) => verb()),
        );
        const schedule = await fixture.store.findSchedule(fixture.partition, scheduleIdOf(finished));
        expect(answers.includes('done')).toBe(schedule !== null);
        expect(answers.includes('stale')).toBe(schedule === null);
      }
    });

    test('of a schedule makes its replays stale', async () => {
      const fixture = await own.fixture();
      const finished = await finish(fixture, await fixture.addSchedule());
      const cut = fixture.tick();
      await prune(fixture, 'deliveries', cut);
      await prune(fixture, 'schedules', cut);
      const late = { delivery: fixture.replay(finished), receipt: fixture.receipt() };
      expect(await fixture.changesNothing(() => fixture.store.addReplay(late))).toBe('stale');
    });

    test('removes receipts that have expired', async () => {
      const fixture = await own.fixture();
      const cut = instant(fixture.now + HOUR_MS);
      const [gone, atTheCut, kept, again] = [
        fixture.receipt({ expiresAt: instant(cut - 1) }),
        fixture.receipt({ expiresAt: cut }),
        fixture.receipt({ expiresAt: instant(cut + 1) }),
        fixture.receipt({ key: 'again', expiresAt: instant(cut - 1) }),
      ];
      for (const receipt of [gone, atTheCut, kept, again]) {
        expect(await fixture.store.addReceipt(fixture.partition, receipt)).toBe('done');
      }
      const renewed = { ...again, createdAt: cut, expiresAt: instant(cut + DAY_MS) };
      expect(await fixture.store.addReceipt(fixture.partition, renewed)).toBe('done');
      await prune(fixture, 'receipts', cut);
      const found = [gone, atTheCut, kept, again].map(({ key }) =>
        fixture.store.findReceipt(fixture.partition, key, instant(0)),
      );
      expect(await Promise.all(found)).toEqual([null, null, kept, renewed]);
    });

    test('removes gates that were not saved since an instant', async () => {
      const fixture = await own.fixture();
      const waiting: Delivery[] = [];
      for (const path of ['old', 'renewed', 'at-the-cut']) {
        const url = `https://example.com/${path}`;
        waiting.push(
          pendingOf(await fixture.addSchedule({ destination: { kind: 'inline', url, method: 'PUT' } })),
        );
      }
      const [old, renewed, atTheCut] = waiting.map(({ target }) => fixture.gate(endpointKeyOf(target)));
      if (!old || !renewed || !atTheCut) throw new Error('There are fewer than three.');
      await fixture.store.saveGates([old, renewed]);
      const cut = fixture.tick();
      await fixture.store.saveGates([
        { ...renewed, savedAt: instant(cut + 1) },
        { ...atTheCut, savedAt: cut },
      ]);
      await prune(fixture, 'gates', cut);
      const gates = (await fixture.store.loadDeliveries(waiting)).map((work) => work?.gate);
      expect(gates).toEqual([null, renewed.gate, atTheCut.gate]);
    });

    test('works the same after reopening', async () => {
      const fixture = await own.fixture();
      const finished = await finish(fixture, await fixture.addSchedule());
      const view = await addScheduleWithEveryStatus(fixture);
      const cut = fixture.tick();
      for (const what of PRUNABLE) await prune(fixture, what, cut);
      const before = await fixture.everything();
      await fixture.reopen();
      expect(await fixture.everything()).toEqual(before);
      expect(await fixture.store.findSchedule(fixture.partition, scheduleIdOf(finished))).toBeNull();
      expect((await fixture.view(view.schedule.id)).schedule).toEqual(view.schedule);
    });
  });
}

/** Prunes in batches until nothing is left, and returns how many rows were read. */
async function prune(fixture: Fixture, what: Prunable, before: Instant): Promise<number> {
  let read = 0;
  for (let calls = 0; calls < CALLS_MAX; calls++) {
    const count = await fixture.store.prune(what, before, BATCH);
    expect(count).toBeLessThanOrEqual(BATCH);
    read += count;
    if (count < BATCH) return read;
  }
  throw new Error(`Pruning ${what} does not end.`);
}

/** Removes what other tests left behind. */
async function drainOthers(fixture: Fixture, before: Instant): Promise<void> {
  const [mine] = await fixture.everything();
  const earliest = Math.min(...mine.deliveries.map(({ finalizedAt }) => finalizedAt ?? before));
  await prune(fixture, 'deliveries', instant(earliest));
}

async function finish(fixture: Fixture, view: ScheduleView): Promise<Delivery> {
  return fixture.fire(pendingOf(view), SUCCESS);
}

function attemptsOf(fixture: Fixture, delivery: Delivery | undefined) {
  if (delivery === undefined) throw new Error('The test has no delivery to check.');
  return fixture.store.listAttempts(fixture.partition, delivery.id, 0, 100);
}
