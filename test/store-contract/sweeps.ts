import { describe, expect, test } from 'vitest';
import { DELIVERY_STATUSES, type Delivery, type DeliveryStatus } from '#src/domain/delivery.ts';
import * as deliveryLife from '#src/domain/delivery-lifecycle.ts';
import type { ScheduleId } from '#src/domain/id.ts';
import type { Instant } from '#src/domain/instant.ts';
import type { ScheduleView } from '#src/domain/schedule.ts';
import * as life from '#src/domain/schedule-lifecycle.ts';
import { SWEEP_BATCH_MAX, SWEEP_FIRST_BATCH_MAX } from '#src/store/sql/sweep-verbs.ts';
import { FAILURE, HOUR_MS, HOURLY, SUCCESS, scheduleIdOf } from './builders.ts';
import { addScheduleWithEveryStatus, deliveriesOf } from './every-status.ts';
import { ALL_DELIVERIES, allPages } from './everything.ts';
import { type Fixture, pendingOf, type Suite } from './fixture.ts';

const STEPS = { pause: deliveryLife.pause, resume: deliveryLife.resume, cancel: deliveryLife.cancel };
const ACTIONS = { pause: life.pause, resume: life.resume, cancel: life.cancel };
type Action = keyof typeof ACTIONS;

export function sweepsContract(suite: Suite): void {
  describe.for(['pause', 'resume', 'cancel'] as const)('the %s of a schedule', (action) => {
    test('changes each of its other deliveries by the rules of the delivery lifecycle', async () => {
      const fixture = await suite.fixture();
      const before = await deliveriesReadyFor(fixture, action);
      const others = before.filter((delivery) => delivery.id !== before[0]?.id);
      expect(new Set(others.map(({ status }) => status)).size).toBe(DELIVERY_STATUSES.length);

      const now = fixture.tick();
      const scheduleId = scheduleIdOf(before[0] ?? others[0] ?? raise());
      const view = await fixture.change(scheduleId, (read) => ACTIONS[action](read, now));

      const after = await deliveriesOf(fixture, scheduleId);
      const expected = before.map((delivery) =>
        delivery.id === view.schedule.pendingId ? view.pending : swept(delivery, action, now),
      );
      expect(after).toEqual(expected);
    });

    test('changes no other schedules or partitions', async () => {
      const fixture = await suite.fixture();
      const [first] = await deliveriesReadyFor(fixture, action);
      const other = await deliveriesReadyFor(fixture, action);
      const [otherFirst] = other;
      const foreign = fixture.schedule({ partition: fixture.neighbour, id: first?.scheduleId ?? raise() });
      const elsewhere: Delivery = {
        ...foreign.pending,
        status: action === 'resume' ? 'paused' : 'scheduled',
      };
      await fixture.store.addSchedule({
        schedule: foreign.schedule,
        pending: elsewhere,
        payload: null,
        profile: null,
        receipt: null,
      });
      await fixture.change(first?.scheduleId ?? raise(), (read) => ACTIONS[action](read, fixture.tick()));
      expect(await deliveriesOf(fixture, otherFirst?.scheduleId ?? raise())).toEqual(other);
      expect(await fixture.store.findDelivery(fixture.neighbour, elsewhere.id)).toEqual(elsewhere);
    });

    test('that is stale sweeps nothing', async () => {
      const fixture = await suite.fixture();
      const [first] = await deliveriesReadyFor(fixture, action);
      const read = await fixture.view(first?.scheduleId ?? raise());
      await fixture.change(read.schedule.id, (view) => life.edit(view, { ttl: '1h' }, fixture.tick()));
      const late = ACTIONS[action](read, fixture.tick()) ?? raise();
      const replace = () => fixture.store.replaceSchedule({ ...late, receipt: null });
      expect(await fixture.changesNothing(replace)).toBe('stale');
    });

    test('makes decisions about a swept delivery stale', async () => {
      const fixture = await suite.fixture();
      const deliveries = await deliveriesReadyFor(fixture, action);
      const view: ScheduleView = await fixture.view(deliveries[0]?.scheduleId ?? raise());
      const touched = deliveries.filter(
        ({ id, status }) => id !== view.schedule.pendingId && movesBy(status, action),
      );
      await fixture.change(view.schedule.id, (read) => ACTIONS[action](read, fixture.tick()));
      const late = touched.map((delivery) => ({
        ...fixture.claim({ ...delivery, status: 'scheduled' }, view),
        advanced: null,
      }));
      expect(late.length).toBeGreaterThan(1);
      expect(await fixture.changesNothing(() => fixture.store.claim(late))).toEqual(late.map(() => 'stale'));
    });
  });
}

/** More deliveries of each status than a store changes in one batch. */
const MANY = 2 * SWEEP_BATCH_MAX + 1;

export function unfinishedSweepsContract(suite: Suite): void {
  describe('a sweep of more deliveries than one batch', () => {
    test.for([
      ['pause', 'paused', 'paused'],
      ['cancel', 'canceled', 'canceled'],
    ] as const)('a %s continues batch by batch, and no delivery can be claimed in between', async (row) => {
      const [action, untriedTo, triedTo] = row;
      const fixture = await suite.fixture();
      const { schedule, others } = await addManyReplays(fixture);
      const now = fixture.tick();
      const view = await fixture.change(schedule.id, (read) => ACTIONS[action](read, now));
      const unfinished = (await fixture.store.findSweep(fixture.partition, schedule.id)) ?? raise();
      expect(unfinished).toMatchObject({
        partition: fixture.partition,
        scheduleId: schedule.id,
        action: action,
      });
      expect(unfinished.requestedAt).toBe(now);
      expect(await fixture.store.listSweeps(1_000)).toContainEqual(unfinished);

      const before = await allOf(fixture, schedule.id);
      const left = before.filter(({ id, status }) => id !== view.pending?.id && movesBy(status, action));
      expect(left).toHaveLength(others.length - 2 * SWEEP_FIRST_BATCH_MAX);
      const [one] = left;
      const work = await fixture.load(one ?? raise());
      expect(work.sweep).toEqual(unfinished);
      expect(deliveryLife.isSweepPending(work.delivery, work.sweep)).toBe(true);
      const claims = left.slice(0, 3).map((each) => ({ ...fixture.claim(each, view), advanced: null }));
      expect(await fixture.changesNothing(() => fixture.store.claim(claims))).toEqual(
        claims.map(() => 'stale'),
      );

      // Two statuses, each with two full batches and one delivery more.
      expect(await finish(fixture, schedule.id)).toBe(4);
      const after = await allOf(fixture, schedule.id);
      const expected = others.map(({ id, attemptCount }) => ({
        id,
        status: attemptCount === 0 ? untriedTo : triedTo,
        finalizedAt: action === 'cancel' ? now : null,
        reserved: false,
        revision: 2,
      }));
      expect(after.filter(({ id }) => others.some((other) => other.id === id))).toMatchObject(expected);
      expect(await fixture.store.listSweeps(1_000)).not.toContainEqual(unfinished);
    });

    test('a resume continues batch by batch, and swept deliveries can be claimed', async () => {
      const fixture = await suite.fixture();
      const { schedule, others } = await addManyReplays(fixture);
      await fixture.change(schedule.id, (read) => life.pause(read, fixture.tick()));
      await finish(fixture, schedule.id);
      const view = await fixture.change(schedule.id, (read) => life.resume(read, fixture.tick()));
      const reached = (await allOf(fixture, schedule.id)).filter(
        ({ id, status }) => id !== view.pending?.id && deliveryLife.isWaiting(status),
      );
      expect(reached).toHaveLength(SWEEP_FIRST_BATCH_MAX);
      const [one] = reached;
      const work = await fixture.load(one ?? raise());
      expect(work.sweep).toMatchObject({ action: 'resume' });
      expect(deliveryLife.isSweepPending(work.delivery, work.sweep)).toBe(false);
      const claim = { ...fixture.claim(one ?? raise(), view), advanced: null };
      expect(await fixture.store.claim([claim])).toEqual(['done']);
      await finish(fixture, schedule.id);
      const statuses = (await allOf(fixture, schedule.id)).filter(({ id }) => id !== one?.id);
      expect(new Set(statuses.map(({ status }) => status))).toEqual(
        new Set(['scheduled', 'retry_scheduled', 'succeeded']),
      );
      expect(statuses.filter(({ status }) => deliveryLife.isWaiting(status))).toHaveLength(others.length);
    });

    test.for([
      ['pause', 'resume', ['scheduled', 'retry_scheduled']],
      ['pause', 'cancel', ['canceled']],
    ] as const)('a %s, then a %s before it has ended: the last action counts', async ([first, then, to]) => {
      const fixture = await suite.fixture();
      const { schedule, others } = await addManyReplays(fixture);
      await fixture.change(schedule.id, (read) => ACTIONS[first](read, fixture.tick()));
      const early = (await fixture.store.findSweep(fixture.partition, schedule.id)) ?? raise();
      await fixture.change(schedule.id, (read) => ACTIONS[then](read, fixture.tick()));
      // A node that still works on the first action has no more effect.
      const late = await fixture.store.findSweep(fixture.partition, schedule.id);
      await fixture.changesNothing(() => fixture.store.continueSweep(early, null));
      expect(await fixture.store.findSweep(fixture.partition, schedule.id)).toEqual(late);
      await finish(fixture, schedule.id);
      const own = new Set(others.map(({ id }) => id));
      const after = (await allOf(fixture, schedule.id)).filter(({ id }) => own.has(id));
      expect(new Set(after.map(({ status }) => status))).toEqual(new Set(to));
    });

    test('a resume, then a pause before it has ended: the last action counts', async () => {
      const fixture = await suite.fixture();
      const { schedule, others } = await addManyReplays(fixture);
      await fixture.change(schedule.id, (read) => life.pause(read, fixture.tick()));
      await finish(fixture, schedule.id);
      await fixture.change(schedule.id, (read) => life.resume(read, fixture.tick()));
      await fixture.change(schedule.id, (read) => life.pause(read, fixture.tick()));
      await finish(fixture, schedule.id);
      const own = new Set(others.map(({ id }) => id));
      const after = (await allOf(fixture, schedule.id)).filter(({ id }) => own.has(id));
      expect(new Set(after.map(({ status }) => status))).toEqual(new Set(['paused']));
    });

    test('does not change replays that were added after the action, or an edit in between', async () => {
      const fixture = await suite.fixture();
      const { schedule, original } = await addManyReplays(fixture);
      await fixture.change(schedule.id, (read) => life.cancel(read, fixture.tick()));
      fixture.tick();
      const replayed = await fixture.addReplay(original);
      const claim = { ...fixture.claim(replayed, await fixture.view(schedule.id)), advanced: null };
      await fixture.change(schedule.id, (read) => life.edit(read, { ttl: '1h' }, fixture.tick()));
      expect(await finish(fixture, schedule.id)).toBeGreaterThan(0);
      expect(await fixture.delivery(replayed.id)).toEqual(replayed);
      expect(await fixture.store.claim([claim])).toEqual(['done']);
    });

    test('is stored, and any node can finish it', async () => {
      const fixture = await suite.fixture();
      const { schedule, others } = await addManyReplays(fixture);
      await fixture.change(schedule.id, (read) => life.cancel(read, fixture.tick()));
      await fixture.reopen();
      await Promise.all([finish(fixture, schedule.id), finish(fixture, schedule.id)]);
      const canceled = (await allOf(fixture, schedule.id)).filter(({ status }) => status === 'canceled');
      // The pending delivery is canceled too.
      expect(canceled).toHaveLength(others.length + 1);
    });

    test('of a state that the schedule has left is removed', async () => {
      const fixture = await suite.fixture();
      const { schedule } = await addManyReplays(fixture);
      await fixture.change(schedule.id, (read) => life.pause(read, fixture.tick()));
      const resumed = life.resume(await fixture.view(schedule.id), fixture.tick()) ?? raise();
      expect(await fixture.store.replaceSchedule({ ...resumed, sweep: null, receipt: null })).toBe('done');
      const unfinished = (await fixture.store.findSweep(fixture.partition, schedule.id)) ?? raise();
      await fixture.changesNothing(() => fixture.store.continueSweep(unfinished, null));
      expect(await fixture.store.findSweep(fixture.partition, schedule.id)).toBeNull();
    });

    test('of a resume goes on after its schedule has completed', async () => {
      const fixture = await suite.fixture();
      const { schedule, others } = await addManyReplays(fixture);
      await fixture.change(schedule.id, (read) => life.pause(read, fixture.tick()));
      await finish(fixture, schedule.id);
      await fixture.change(schedule.id, (read) => {
        const resumed = life.resume(read, fixture.tick()) ?? raise();
        return { ...resumed, schedule: { ...resumed.schedule, state: 'completed', endedAt: fixture.now } };
      });
      await finish(fixture, schedule.id);
      const own = new Set(others.map(({ id }) => id));
      const after = (await allOf(fixture, schedule.id)).filter(({ id }) => own.has(id));
      expect(new Set(after.map(({ status }) => status))).toEqual(new Set(['scheduled', 'retry_scheduled']));
    });

    test('begins when the attempt of a paused schedule completes it', async () => {
      const fixture = await suite.fixture();
      const view = await fixture.addSchedule({ timing: HOURLY });
      fixture.tick(HOUR_MS);
      const retried = await fixture.fire(pendingOf(view), FAILURE);
      const { timing } = fixture.schedule().schedule;
      await fixture.change(view.schedule.id, ({ schedule }) => {
        const changed = { ...schedule, timing, cronAt: null, revision: schedule.revision + 1 };
        return { schedule: changed, pending: null, sweep: null };
      });
      const claimed = await fixture.addClaim(await fixture.view(view.schedule.id));
      const paused = await fixture.change(view.schedule.id, (read) => life.pause(read, fixture.tick()));
      expect((await fixture.delivery(retried.id)).status).toBe('paused');
      const settled = fixture.settle(claimed, paused.schedule, SUCCESS);
      expect(await fixture.store.settle([settled])).toEqual(['done']);
      expect((await fixture.view(view.schedule.id)).schedule.state).toBe('completed');
      await finish(fixture, view.schedule.id);
      expect((await fixture.delivery(retried.id)).status).toBe('retry_scheduled');
    });

    test('is listed before the second sweep of another customer, however old that is', async () => {
      const [one, other] = [await suite.fixture(), await suite.fixture()];
      const canceled = async (fixture: Fixture) => {
        const { schedule } = await addManyReplays(fixture, SWEEP_FIRST_BATCH_MAX + 1);
        await fixture.change(schedule.id, (read) => life.cancel(read, fixture.tick()));
        return schedule.id;
      };
      const [first, second] = [await canceled(one), await canceled(one)];
      other.tick(HOUR_MS * 24);
      const third = await canceled(other);
      const listed = (await suite.store.listSweeps(1_000)).map(({ scheduleId }) => scheduleId);
      const own = new Set([first, second, third]);
      expect(listed.filter((id) => own.has(id))).toEqual([first, third, second]);
      await finish(one, first);
      await finish(one, second);
      await finish(other, third);
    });

    test('of at most one batch leaves nothing to do', async () => {
      const fixture = await suite.fixture();
      const { schedule } = await addScheduleWithEveryStatus(fixture);
      await fixture.change(schedule.id, (read) => life.cancel(read, fixture.tick()));
      expect(await fixture.store.findSweep(fixture.partition, schedule.id)).toBeNull();
    });
  });
}

/** A recurring schedule with many waiting replays, half of them attempted before. */
async function addManyReplays(fixture: Fixture, ofEachStatus = MANY) {
  const view = await fixture.addSchedule({ timing: HOURLY });
  fixture.tick(HOUR_MS);
  const original = await fixture.fire(pendingOf(view), SUCCESS);
  const others = Array.from({ length: 2 * ofEachStatus }, (_, index): Delivery => {
    const wasTried = index % 2 === 1;
    return {
      ...fixture.replay(original),
      status: wasTried ? 'retry_scheduled' : 'scheduled',
      attemptCount: wasTried ? 3 : 0,
      reserved: index % 3 === 0,
    };
  });
  await Promise.all(others.map((delivery) => fixture.store.addReplay({ delivery, receipt: null })));
  return { schedule: view.schedule, original, others };
}

/** Finishes a sweep, and returns how many batches that took. */
async function finish(fixture: Fixture, id: ScheduleId): Promise<number> {
  const unfinished = await fixture.store.findSweep(fixture.partition, id);
  if (unfinished === null) return 0;
  let batches = 0;
  let cursor = await fixture.store.continueSweep(unfinished, null);
  for (; cursor !== null; batches++) cursor = await fixture.store.continueSweep(unfinished, cursor);
  expect(await fixture.store.findSweep(fixture.partition, id)).toBeNull();
  return batches;
}

/** Returns all deliveries of the schedule, oldest first. */
async function allOf(fixture: Fixture, scheduleId: ScheduleId): Promise<readonly Delivery[]> {
  const filter = { ...ALL_DELIVERIES, scheduleId };
  const deliveries = await allPages(
    (page) => fixture.store.listDeliveries(fixture.partition, filter, page),
    ({ id }: Delivery) => id,
  );
  return deliveries.toReversed();
}

function raise(): never {
  throw new Error('The test has no delivery to check.');
}

function movesBy(status: DeliveryStatus, action: Action): boolean {
  return deliveryLife.DELIVERY_TRANSITIONS[status][action] !== undefined;
}

function swept(delivery: Delivery, action: Action, now: Instant): Delivery {
  return movesBy(delivery.status, action) ? STEPS[action](delivery, now) : delivery;
}

/** A schedule with deliveries of every status, in a state that allows `action`. Returns the oldest delivery first. */
async function deliveriesReadyFor(fixture: Fixture, action: Action): Promise<readonly Delivery[]> {
  const { schedule } = await addScheduleWithEveryStatus(fixture);
  if (action === 'resume') await pauseOnly(fixture, schedule.id);
  return deliveriesOf(fixture, schedule.id);
}

/** Pauses the schedule and its pending delivery, and leaves other deliveries as they are. */
async function pauseOnly(fixture: Fixture, id: ScheduleId): Promise<void> {
  const paused = life.pause(await fixture.view(id), fixture.tick()) ?? raise();
  expect(await fixture.store.replaceSchedule({ ...paused, sweep: null, receipt: null })).toBe('done');
}
