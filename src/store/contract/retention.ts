import { describe, expect, test } from 'vitest';
import type { Delivery } from '#src/domain/delivery.ts';
import { isTerminal } from '#src/domain/delivery-life.ts';
import { endpointKeyOf } from '#src/domain/endpoint-key.ts';
import { type Instant, instant } from '#src/domain/instant.ts';
import type { ScheduleView } from '#src/domain/schedule.ts';
import * as life from '#src/domain/schedule-life.ts';
import { PRUNABLE, type Prunable } from '#src/ports/store.ts';
import { type Bench, ownSuite, pendingOf, type Suite } from './bench.ts';
import { DAY_MS, FAILURE, HOUR_MS, HOURLY, SUCCESS } from './builders.ts';
import { crowd, deliveriesOf } from './crowd.ts';

const BATCH = 10;
const CALLS_MAX = 100;

export function retentionContract(suite: Suite): void {
  describe('retention', () => {
    const own = ownSuite(suite);

    test('removes deliveries finalized before, with their attempts, and no other', async () => {
      const bench = await own.bench();
      const { schedule } = await crowd(bench);
      bench.tick();
      const atTheCut = await finish(bench, await bench.addSchedule());
      const cut = bench.now;
      const before = await deliveriesOf(bench, schedule.id);
      const [tried] = before;
      expect(await attemptsOf(bench, tried)).toHaveLength(1);
      expect(await prune(bench, 'deliveries', cut)).toBeGreaterThan(0);

      const kept = before.filter(({ status }) => !isTerminal(status));
      expect(await deliveriesOf(bench, schedule.id)).toEqual(kept);
      expect(kept.length).toBeGreaterThan(5);
      expect(await attemptsOf(bench, tried)).toEqual([]);
      expect(await bench.delivery(atTheCut.id)).toEqual(atTheCut);
      expect(await attemptsOf(bench, atTheCut)).toHaveLength(1);
      expect(await prune(bench, 'deliveries', instant(cut + 1))).toBe(1);
      expect(await bench.store.findDelivery(bench.partition, atTheCut.id)).toBeNull();
      expect(await bench.view(atTheCut.scheduleId)).toMatchObject({ pending: null });
    });

    test('goes by a trusted time that is kept, also when the store is closed', async () => {
      const bench = await own.bench();
      const { now } = bench;
      const trusted = { seenAt: now, trustedAt: instant(now - DAY_MS), believedFrom: instant(now + HOUR_MS) };
      await bench.store.saveTrustedTime(trusted);
      await bench.reopen();
      expect(await bench.store.findTrustedTime()).toEqual(trusted);
      const believed = { seenAt: now, trustedAt: now, believedFrom: null };
      await bench.store.saveTrustedTime(believed);
      expect(await bench.store.findTrustedTime()).toEqual(believed);
    });

    test('never removes what may still be sent, however old', async () => {
      const bench = await own.bench();
      const scheduled = await bench.addSchedule();
      const recurring = await bench.addSchedule({ timing: HOURLY });
      const paused = await bench.addSchedule();
      await bench.change(paused.schedule.id, (view) => life.pause(view, bench.now));
      await bench.take(await bench.addSchedule());
      await bench.fire(pendingOf(await bench.addSchedule()), FAILURE);
      const canceled = await bench.addSchedule({ timing: HOURLY });
      await bench.take(canceled);
      await bench.change(canceled.schedule.id, (view) => life.cancel(view, bench.now));
      bench.tick(1_000 * DAY_MS);

      const before = await bench.everything();
      for (const what of PRUNABLE) await prune(bench, what, bench.now);
      const [after] = await bench.everything();
      const waiting = before[0].deliveries.filter(({ status }) => !isTerminal(status));
      expect(after.deliveries).toEqual(waiting);
      expect(after.attempts).toEqual(before[0].attempts);
      expect(after.schedules.map(({ schedule }) => schedule)).toEqual(
        before[0].schedules.map(({ schedule }) => schedule),
      );
      expect(await bench.view(scheduled.schedule.id)).toEqual(scheduled);
      expect(await bench.view(recurring.schedule.id)).toEqual(recurring);
    });

    test('removes at most as many as asked for, until there are fewer', async () => {
      const bench = await own.bench();
      for (let i = 0; i < 23; i++) await finish(bench, await bench.addSchedule());
      const cut = bench.tick();
      await drainOthers(bench, cut);
      const answers: number[] = [];
      for (let i = 0; i < 4; i++) answers.push(await bench.store.prune('deliveries', cut, BATCH));
      expect(answers).toEqual([10, 10, 3, 0]);
    });

    test('removes an ended schedule after its deliveries, with payload and labels', async () => {
      const bench = await own.bench();
      const metadata = [['kept', 'for-a-while']] as const;
      const payload = Uint8Array.of(1, 2, 3);
      const made = bench.schedule({ metadata });
      await bench.store.addSchedule({ ...made, payload, profile: null, receipt: null });
      await finish(bench, await bench.view(made.schedule.id));
      const canceled = await bench.addSchedule({ metadata, timing: HOURLY });
      await bench.change(canceled.schedule.id, (view) => life.cancel(view, bench.now));
      const active = await bench.addSchedule({ metadata });
      bench.tick();
      const late = await bench.addSchedule({ metadata });
      await finish(bench, late);
      const labelled = () =>
        bench.store.listSchedules(
          bench.partition,
          { state: null, kind: null, labels: metadata },
          { before: null, limit: 9 },
        );

      const cut = bench.now;
      await bench.changesNothing(() => prune(bench, 'schedules', cut));
      await prune(bench, 'deliveries', instant(cut + 1));
      await prune(bench, 'schedules', cut);
      const left = [late.schedule.id, active.schedule.id];
      expect((await labelled()).items.map(({ schedule }) => schedule.id)).toEqual(left);
      expect(await bench.store.findSchedule(bench.partition, made.schedule.id)).toBeNull();
      expect(await bench.store.findPayload(bench.partition, made.schedule.id)).toBeNull();
      expect(await bench.view(active.schedule.id)).toEqual(active);
      await prune(bench, 'schedules', instant(cut + 1));
      expect((await labelled()).items.map(({ schedule }) => schedule.id)).toEqual([active.schedule.id]);
    });

    test('keeps an ended schedule that still has a replay, and gets past it to those that have none', async () => {
      const bench = await own.bench();
      const held: Delivery[] = [];
      for (let i = 0; i < 2 * BATCH + 5; i++) {
        const finished = await finish(bench, await bench.addSchedule());
        held.push(await bench.addReplay(finished));
      }
      const free: Delivery[] = [];
      for (let i = 0; i < BATCH; i++) free.push(await finish(bench, await bench.addSchedule()));
      const cut = bench.tick();
      await prune(bench, 'deliveries', cut);
      await prune(bench, 'schedules', cut);
      const areLeft = async (deliveries: readonly Delivery[]) =>
        Promise.all(
          deliveries.map(
            async ({ scheduleId }) => (await bench.store.findSchedule(bench.partition, scheduleId)) !== null,
          ),
        );
      expect(await areLeft(free)).toEqual(free.map(() => false));
      expect(await areLeft(held)).toEqual(held.map(() => true));
      for (const replay of held) expect((await bench.work(replay)).delivery).toEqual(replay);

      for (const replay of held) await bench.fire(replay, SUCCESS);
      await prune(bench, 'deliveries', cut);
      await prune(bench, 'schedules', cut);
      expect(await areLeft(held)).toEqual(held.map(() => true));
      await prune(bench, 'deliveries', bench.tick());
      await prune(bench, 'schedules', cut);
      expect(await areLeft(held)).toEqual(held.map(() => false));
    });

    test('and a replay at the same time: it has its schedule, or it is stale', async () => {
      const bench = await own.bench();
      for (let round = 0; round < 20; round++) {
        const finished = await finish(bench, await bench.addSchedule());
        const cut = bench.tick();
        await prune(bench, 'deliveries', cut);
        const replay = () =>
          bench.store.addReplay({ delivery: bench.replay(finished), receipt: bench.receipt() });
        const verbs = [() => bench.store.prune('schedules', cut, 1_000), replay];
        const answers = await Promise.all(
          (round % 2 === 0 ? verbs : verbs.toReversed()).map((verb) => verb()),
        );
        const schedule = await bench.store.findSchedule(bench.partition, finished.scheduleId);
        expect(answers.includes('done')).toBe(schedule !== null);
        expect(answers.includes('stale')).toBe(schedule === null);
      }
    });

    test('of a schedule that is gone leaves a replay of it nothing to be stored', async () => {
      const bench = await own.bench();
      const finished = await finish(bench, await bench.addSchedule());
      const cut = bench.tick();
      await prune(bench, 'deliveries', cut);
      await prune(bench, 'schedules', cut);
      const late = { delivery: bench.replay(finished), receipt: bench.receipt() };
      expect(await bench.changesNothing(() => bench.store.addReplay(late))).toBe('stale');
    });

    test('removes receipts that have expired', async () => {
      const bench = await own.bench();
      const cut = instant(bench.now + HOUR_MS);
      const [gone, atTheCut, kept, again] = [
        bench.receipt({ expiresAt: instant(cut - 1) }),
        bench.receipt({ expiresAt: cut }),
        bench.receipt({ expiresAt: instant(cut + 1) }),
        bench.receipt({ key: 'again', expiresAt: instant(cut - 1) }),
      ];
      for (const receipt of [gone, atTheCut, kept, again]) {
        expect(await bench.store.addReceipt(bench.partition, receipt)).toBe('done');
      }
      const renewed = { ...again, createdAt: cut, expiresAt: instant(cut + DAY_MS) };
      expect(await bench.store.addReceipt(bench.partition, renewed)).toBe('done');
      await prune(bench, 'receipts', cut);
      const found = [gone, atTheCut, kept, again].map(({ key }) =>
        bench.store.findReceipt(bench.partition, key, instant(0)),
      );
      expect(await Promise.all(found)).toEqual([null, null, kept, renewed]);
    });

    test('removes gates that were not saved since', async () => {
      const bench = await own.bench();
      const waiting: Delivery[] = [];
      for (const path of ['old', 'renewed', 'at-the-cut']) {
        const url = `https://example.com/${path}`;
        waiting.push(
          pendingOf(await bench.addSchedule({ destination: { kind: 'inline', url, method: 'PUT' } })),
        );
      }
      const [old, renewed, atTheCut] = waiting.map(({ target }) => bench.gate(endpointKeyOf(target)));
      if (!old || !renewed || !atTheCut) throw new Error('There are three.');
      await bench.store.saveGates([old, renewed]);
      const cut = bench.tick();
      await bench.store.saveGates([
        { ...renewed, savedAt: instant(cut + 1) },
        { ...atTheCut, savedAt: cut },
      ]);
      await prune(bench, 'gates', cut);
      const gates = (await bench.store.loadDeliveries(waiting)).map((work) => work?.gate);
      expect(gates).toEqual([null, renewed.gate, atTheCut.gate]);
    });

    test('is the same after opening again', async () => {
      const bench = await own.bench();
      const finished = await finish(bench, await bench.addSchedule());
      const view = await crowd(bench);
      const cut = bench.tick();
      for (const what of PRUNABLE) await prune(bench, what, cut);
      const before = await bench.everything();
      await bench.reopen();
      expect(await bench.everything()).toEqual(before);
      expect(await bench.store.findSchedule(bench.partition, finished.scheduleId)).toBeNull();
      expect((await bench.view(view.schedule.id)).schedule).toEqual(view.schedule);
    });
  });
}

/** Prunes in batches until there is no more for now; answers how many were looked at. */
async function prune(bench: Bench, what: Prunable, before: Instant): Promise<number> {
  let looked = 0;
  for (let calls = 0; calls < CALLS_MAX; calls++) {
    const count = await bench.store.prune(what, before, BATCH);
    expect(count).toBeLessThanOrEqual(BATCH);
    looked += count;
    if (count < BATCH) return looked;
  }
  throw new Error(`Pruning ${what} does not come to an end.`);
}

/** What other tests left behind. */
async function drainOthers(bench: Bench, before: Instant): Promise<void> {
  const [mine] = await bench.everything();
  const earliest = Math.min(...mine.deliveries.map(({ finalizedAt }) => finalizedAt ?? before));
  await prune(bench, 'deliveries', instant(earliest));
}

async function finish(bench: Bench, view: ScheduleView): Promise<Delivery> {
  return bench.fire(pendingOf(view), SUCCESS);
}

function attemptsOf(bench: Bench, delivery: Delivery | undefined) {
  if (delivery === undefined) throw new Error('The test lacks what it is about.');
  return bench.store.listAttempts(bench.partition, delivery.id, 0, 100);
}
