/** Notifications of outcomes: they are stored with the end of a delivery, sent like any other, and kept beside it. */
import { describe, expect, test } from 'vitest';
import type { Delivery } from '#src/domain/delivery.ts';
import { type EndpointProfile, editProfile } from '#src/domain/endpoint-profile.ts';
import { INTERRUPTED } from '#src/domain/failures.ts';
import type { EndpointId, ScheduleId } from '#src/domain/id.ts';
import { instant } from '#src/domain/instant.ts';
import { asSentNext, notificationOf } from '#src/domain/notification.ts';
import { NOTIFIED_OUTCOMES, type Notify } from '#src/domain/notify.ts';
import type { ScheduleView } from '#src/domain/schedule.ts';
import { cancel, edit, pause, resume } from '#src/domain/schedule-lifecycle.ts';
import type { SettleWrite } from '#src/ports/store.ts';
import { DAY_MS, FAILURE, HOURLY, REDIRECT, SUCCESS, scheduleIdOf } from './builders.ts';
import { type Fixture, ownSuite, pendingOf, type Suite } from './fixture.ts';

const PRUNED_MAX = 10;

function told(profile: Pick<EndpointProfile, 'id'>, on: Notify['on'] = NOTIFIED_OUTCOMES) {
  return { notify: { endpointId: profile.id, on } };
}

function notificationFor(fixture: Fixture, ended: Delivery, profile: EndpointProfile): Delivery {
  const id = fixture.ids.mint('dlv', fixture.now);
  return notificationOf(ended, { id, profile, quotedBytes: 100 }, fixture.now);
}

interface Ended {
  readonly profile: EndpointProfile;
  readonly view: ScheduleView;
  readonly ended: Delivery;
  readonly notification: Delivery;
}

/** A delivery that was claimed, and the write that ends it with a notification. */
async function endingOf(fixture: Fixture, given: Parameters<Fixture['addSchedule']>[0] = {}) {
  const profile = await fixture.addProfile();
  const view = await fixture.addSchedule({ ...told(profile), ...given });
  const claimed = await fixture.addClaim(view);
  const { schedule } = await fixture.view(view.schedule.id);
  const settled = fixture.settle(claimed, schedule, REDIRECT);
  const notification = notificationFor(fixture, settled.delivery, profile);
  const write: SettleWrite = { ...settled, notification };
  return { profile, view, write, notification };
}

/** A delivery that has ended, and its notification. */
async function ended(fixture: Fixture, given: Parameters<Fixture['addSchedule']>[0] = {}): Promise<Ended> {
  const { profile, view, write, notification } = await endingOf(fixture, given);
  expect(await fixture.store.settle([write])).toEqual(['done']);
  return { profile, view, ended: write.delivery, notification };
}

function listOf(fixture: Fixture, id: Delivery['id'], partition = fixture.partition) {
  const filter = {
    status: null,
    scheduleId: null,
    createdAfter: null,
    createdBefore: null,
    notificationOf: id,
  };
  return fixture.store.listDeliveries(partition, filter, { before: null, limit: 10 });
}

async function claimFirst(fixture: Fixture, notification: Delivery, profile: EndpointProfile | null = null) {
  const loaded = await fixture.load(notification);
  const sent = asSentNext(loaded.delivery, profile ?? loaded.endpointProfile);
  const claimed = fixture.claim(sent, { schedule: null, profile: null });
  expect(await fixture.store.claim([claimed])).toEqual(['done']);
  return claimed;
}

export function notificationsContract(suite: Suite): void {
  describe('a notification', () => {
    test.each([
      ['a settlement', async (fixture: Fixture) => ended(fixture)],
      [
        'an end without an attempt',
        async (fixture: Fixture) => {
          const profile = await fixture.addProfile();
          const view = await fixture.addSchedule({ ...told(profile), timing: HOURLY });
          const write = fixture.endUnsent(pendingOf(view), view);
          const notification = notificationFor(fixture, write.delivery, profile);
          expect(await fixture.store.endUnsent([{ ...write, notification }])).toEqual(['done']);
          return { ended: write.delivery, notification };
        },
      ],
      [
        'a resume that expires a one-shot',
        async (fixture: Fixture) => {
          const profile = await fixture.addProfile();
          const { schedule } = await fixture.addSchedule({ ...told(profile), ttl: '1s' });
          await fixture.change(schedule.id, (view) => pause(view, fixture.now));
          const changed = resume(await fixture.view(schedule.id), fixture.tick(3 * 3_600_000));
          const pending = changed?.pending ?? null;
          if (changed === null || pending === null) throw new Error('Nothing has ended.');
          expect(pending.status).toBe('expired');
          const notification = notificationFor(fixture, pending, profile);
          const replacement = { ...changed, notification, receipt: null };
          expect(await fixture.store.replaceSchedule(replacement)).toBe('done');
          return { ended: pending, notification };
        },
      ],
    ] as const)('is stored with %s', async (_what, end) => {
      const fixture = await suite.fixture();
      const { ended: delivery, notification } = await end(fixture);
      expect(await fixture.delivery(delivery.id)).toEqual(delivery);
      expect(await fixture.delivery(notification.id)).toEqual(notification);
      expect(await listOf(fixture, delivery.id)).toEqual([notification]);
      expect(await listOf(fixture, delivery.id, fixture.neighbour)).toEqual([]);
    });

    test('is not stored if the end of the delivery is refused', async () => {
      const fixture = await suite.fixture();
      const { view, write, notification } = await endingOf(fixture, { timing: HOURLY });
      await fixture.change(view.schedule.id, (read) => pause(read, fixture.now));
      expect(await fixture.changesNothing(() => fixture.store.settle([write]))).toEqual(['stale']);
      expect(await fixture.store.findDelivery(fixture.partition, notification.id)).toBeNull();
    });

    test('is loaded without a schedule, with the present version of its profile', async () => {
      const fixture = await suite.fixture();
      const { profile, notification, ended: original } = await ended(fixture);
      const edited = editProfile(profile, { url: 'https://example.com/moved' }, fixture.tick());
      expect(await fixture.store.replaceProfile({ profile: edited, headers: null, receipt: null })).toBe(
        'done',
      );
      const gate = fixture.gate(profile.id as string as ReturnType<typeof fixture.gate>['endpoint']);
      await fixture.store.saveGates([gate]);
      // In a batch with deliveries of schedules, and with one that is gone.
      const other = await fixture.addSchedule();
      const gone = { partition: fixture.partition, id: fixture.ids.mint('dlv', fixture.now) };
      const found = await fixture.store.loadDeliveries([gone, notification, original, pendingOf(other)]);
      expect(found.map((one) => one?.delivery.id)).toEqual([
        undefined,
        notification.id,
        original.id,
        pendingOf(other).id,
      ]);
      const loaded = found[1];
      expect(loaded).toMatchObject({ delivery: notification, schedule: null, profile: null, sweep: null });
      expect(loaded?.endpointProfile).toMatchObject({ id: profile.id, version: 2, url: edited.url });
      expect(loaded?.gate).toEqual(gate.gate);
      expect(found[3]?.schedule?.id).toBe(other.schedule.id);
    });

    test('takes the version of its profile with its first claim, and keeps it', async () => {
      const fixture = await suite.fixture();
      const { profile, notification } = await ended(fixture);
      const edited = editProfile(
        profile,
        { url: 'https://example.com/moved', method: 'PUT' },
        fixture.tick(),
      );
      await fixture.store.replaceProfile({ profile: edited, headers: Buffer.from('sealed'), receipt: null });
      const claimed = await claimFirst(fixture, notification);
      const target = { url: edited.url, method: 'PUT', endpointId: profile.id, endpointVersion: 2 };
      expect(await fixture.delivery(notification.id)).toMatchObject({ status: 'claimed', target });
      const [payload] = await fixture.store.loadPayloads([claimed.delivery]);
      expect(payload?.payload).toBeNull();
      expect(Buffer.from(payload?.profile?.headers ?? []).toString()).toBe('sealed');

      const settled = fixture.settle(claimed, null, INTERRUPTED);
      expect(await fixture.store.settle([settled])).toEqual(['done']);
      const again = editProfile(edited, { url: 'https://example.com/again' }, fixture.tick());
      await fixture.store.replaceProfile({ profile: again, headers: null, receipt: null });
      fixture.tick(10_000);
      await claimFirst(fixture, notification);
      expect(await fixture.delivery(notification.id)).toMatchObject({ attemptCount: 2, target });
    });

    test('that is claimed is found when its node has died, and settled without a schedule', async () => {
      const own = await suite.fixture();
      const { notification } = await ended(own);
      await claimFirst(own, notification);
      const lost = await own.store.listLostClaims([], 1_000);
      const claim = lost.find(({ delivery }) => delivery.id === notification.id);
      if (claim === undefined) throw new Error('The claim is not found.');
      expect(claim.schedule).toBeNull();
      const settled = own.settle(claim, claim.schedule, SUCCESS);
      expect(settled.decidedUnder).toBeNull();
      expect(await own.store.settle([settled])).toEqual(['done']);
      expect((await own.delivery(notification.id)).status).toBe('succeeded');
    });

    test('is not touched by a pause or cancel of the schedule', async () => {
      const fixture = await suite.fixture();
      const { view, notification } = await ended(fixture, { timing: HOURLY });
      await fixture.change(view.schedule.id, (read) => pause(read, fixture.now));
      await fixture.change(view.schedule.id, (read) => cancel(read, fixture.now));
      expect(await fixture.delivery(notification.id)).toEqual(notification);
    });

    test('is replayed while the delivery that it tells of is there', async () => {
      const fixture = await suite.fixture();
      const { notification } = await ended(fixture);
      const claimed = await claimFirst(fixture, notification);
      await fixture.store.settle([fixture.settle(claimed, null, SUCCESS)]);
      const replay = await fixture.addReplay(await fixture.delivery(notification.id));
      expect(await fixture.delivery(replay.id)).toMatchObject({
        scheduleId: null,
        replayOf: notification.id,
        notificationOf: notification.notificationOf,
      });
      const lost = { ...fixture.replay(notification), notificationOf: fixture.ids.mint('dlv', fixture.now) };
      const receipt = fixture.receipt();
      const add = () => fixture.store.addReplay({ delivery: lost, receipt });
      expect(await fixture.changesNothing(add)).toBe('stale');
    });

    test('is among the deliveries that come, without a schedule', async () => {
      const fixture = await suite.fixture();
      const { notification } = await ended(fixture, { timing: HOURLY });
      const [first] = await fixture.store.insight.listUpcoming(
        fixture.partition,
        { dueAt: notification.scheduledFor, id: '' },
        instant(fixture.now + DAY_MS),
        10,
      );
      expect(first).toEqual({ delivery: notification, schedule: null });
    });

    test('finds what it tells: its delivery, schedule, last attempts and answer', async () => {
      const fixture = await suite.fixture();
      const profile = await fixture.addProfile();
      const view = await fixture.addSchedule({ ...told(profile), metadata: [['team', 'ops']] });
      let delivery: Delivery = pendingOf(view);
      for (let attempts = 1; attempts <= 4; attempts++) {
        const claimed = fixture.claim(delivery, await fixture.load(delivery));
        expect(await fixture.store.claim([claimed])).toEqual(['done']);
        const { schedule } = await fixture.view(view.schedule.id);
        const settled = fixture.settle(claimed, schedule, attempts < 4 ? FAILURE : REDIRECT);
        const sealed = Uint8Array.of(attempts);
        const response = { statusCode: 503, contentType: 'text/plain', isTruncated: true, sealed };
        expect(await fixture.store.settle([{ ...settled, response }])).toEqual(['done']);
        delivery = settled.delivery;
        if (delivery.dueAt !== null) fixture.tick(delivery.dueAt - fixture.now);
      }
      const { partition, store } = fixture;
      const found = await store.findNotificationSubject(partition, delivery.id, 3);
      const { schedule } = await fixture.view(view.schedule.id);
      expect(found).toMatchObject({ delivery, schedule });
      expect(found?.attempts).toEqual(await store.listAttempts(partition, delivery.id, 1, 10));
      expect(found?.response).toMatchObject({ statusCode: 503, isTruncated: true });
      expect([...(found?.response?.sealed ?? [])]).toEqual([4]);
      expect(await store.findNotificationSubject(fixture.neighbour, delivery.id, 3)).toBeNull();
      const silent = await ended(fixture);
      const other = await store.findNotificationSubject(partition, silent.ended.id, 3);
      expect(other).toMatchObject({ delivery: silent.ended, response: null });
      expect(other?.attempts).toHaveLength(1);
    });

    test('knows the size of the labels that it quotes, and the present version of its profile', async () => {
      const fixture = await suite.fixture();
      const profile = await fixture.addProfile();
      const metadata: [string, string][] = [['kind', 'ü'.repeat(5_000)]];
      const { schedule } = await fixture.addSchedule({ metadata });
      const find = (endpoint: EndpointId, id: ScheduleId | null) =>
        fixture.store.findNotificationSource(fixture.partition, endpoint, id);
      const { headerNames: _names, metadata: _labels, ...firing } = profile;
      expect(await find(profile.id, schedule.id)).toEqual({
        profile: firing,
        metadataBytes: Buffer.byteLength(JSON.stringify(metadata)),
      });
      expect(await find(profile.id, null)).toEqual({ profile: firing, metadataBytes: 0 });
      expect(await find('ep_unknown' as EndpointId, schedule.id)).toBeNull();
    });
  });

  describe('an endpoint profile that is notified', () => {
    const archived = (profile: EndpointProfile, revision = profile.revision + 1) => ({
      ...profile,
      archived: true,
      revision,
    });

    test('cannot be archived while a schedule or another profile names it', async () => {
      const fixture = await suite.fixture();
      const { store } = fixture;
      const profile = await fixture.addProfile();
      const similar = await fixture.addProfile();
      const archive = () => store.archiveProfile(archived(profile));
      const { schedule } = await fixture.addSchedule({ ...told(profile, []), timing: HOURLY });
      await fixture.addSchedule(told(similar));
      expect(await fixture.changesNothing(archive)).toBe('in_use');
      await fixture.change(schedule.id, (view) => edit(view, { notify: null }, fixture.tick()));
      const naming = await fixture.addProfile(told(profile));
      expect(await fixture.changesNothing(archive)).toBe('in_use');
      expect(await store.archiveProfile(archived(naming))).toBe('done');
      const last = await fixture.addSchedule(told(profile));
      expect(await fixture.changesNothing(archive)).toBe('in_use');
      await fixture.change(last.schedule.id, (view) => cancel(view, fixture.tick()));
      expect(await archive()).toBe('done');
    });

    test('may be archived if only it names itself', async () => {
      const fixture = await suite.fixture();
      const profile = await fixture.addProfile();
      const itself = editProfile(profile, told(profile), fixture.tick());
      expect(await fixture.store.replaceProfile({ profile: itself, headers: null, receipt: null })).toBe(
        'done',
      );
      expect(await fixture.store.findProfile(fixture.partition, profile.id)).toEqual(itself);
      expect(await fixture.store.archiveProfile(archived(itself))).toBe('done');
    });

    test('must not have changed when it is named', async () => {
      const fixture = await suite.fixture();
      const { store } = fixture;
      const profile = await fixture.addProfile();
      const notified = { ...profile, revision: profile.revision + 1 };
      const made = fixture.schedule(told(profile));
      const receipt = fixture.receipt();
      const add = () => store.addSchedule({ ...made, payload: null, profile: null, notified, receipt });
      expect(await fixture.changesNothing(add)).toBe('stale');
      const view = await fixture.addSchedule();
      const changed = edit(view, told(profile), fixture.tick());
      expect(
        await fixture.changesNothing(() => store.replaceSchedule({ ...changed, notified, receipt: null })),
      ).toBe('stale');
      const other = fixture.profile(told(profile));
      const write = { profile: other, headers: null, notified, receipt: null };
      expect(await fixture.changesNothing(() => store.addProfile(write))).toBe('stale');
      expect(await store.addProfile({ ...write, notified: profile })).toBe('done');
      const edited = editProfile(other, { notify: null }, fixture.tick());
      expect(await fixture.changesNothing(() => store.replaceProfile({ ...write, profile: edited }))).toBe(
        'stale',
      );
    });
  });

  describe('the history of a delivery', () => {
    const own = ownSuite(suite);

    test('is kept until its notification has ended', async () => {
      const fixture = await own.fixture();
      const { store } = fixture;
      const first = await ended(fixture);
      const second = await ended(fixture);
      const untold = await endingOf(fixture);
      expect(await store.settle([{ ...untold.write, notification: null }])).toEqual(['done']);
      const prune = (limit = PRUNED_MAX) => store.prune('deliveries', fixture.tick(), limit);
      const isKept = async ({ id }: Delivery) => (await store.findDelivery(fixture.partition, id)) !== null;

      expect(await prune()).toBe(3);
      expect(await isKept(untold.write.delivery)).toBe(false);
      expect([await isKept(first.ended), await isKept(second.ended)]).toEqual([true, true]);

      const claimed = await claimFirst(fixture, first.notification);
      await store.settle([fixture.settle(claimed, null, SUCCESS)]);
      await prune();
      expect([await isKept(first.ended), await isKept(second.ended)]).toEqual([false, true]);
      expect(await isKept(first.notification)).toBe(false);
      await store.prune('schedules', fixture.tick(), PRUNED_MAX);
      expect(await store.findSchedule(fixture.partition, scheduleIdOf(first.ended))).toBeNull();
      expect(await fixture.view(scheduleIdOf(second.ended))).toMatchObject({ pending: second.ended });
    });

    test('does not keep those that ended later from being removed', async () => {
      const fixture = await own.fixture();
      const { store } = fixture;
      const waiting: Ended[] = [];
      for (let count = 0; count < 5; count++) waiting.push(await ended(fixture));
      fixture.tick();
      const { write } = await endingOf(fixture);
      await store.settle([{ ...write, notification: null }]);
      const cut = fixture.tick();
      for (let pages = 0; pages < 4; pages++) await store.prune('deliveries', cut, 2);
      expect(await store.findDelivery(fixture.partition, write.delivery.id)).toBeNull();
      for (const { ended: kept } of waiting) expect(await fixture.delivery(kept.id)).toEqual(kept);
    });

    test('and a replay of its notification at the same time: it is kept, or the replay is stale', async () => {
      const fixture = await own.fixture();
      const { store } = fixture;
      for (let round = 0; round < 20; round++) {
        const told = await ended(fixture);
        const cut = fixture.tick();
        const claimed = await claimFirst(fixture, told.notification);
        await store.settle([fixture.settle(claimed, null, SUCCESS)]);
        const delivery = fixture.replay(await fixture.delivery(told.notification.id));
        const verbs = [
          () => store.prune('deliveries', cut, PRUNED_MAX),
          () => store.addReplay({ delivery, receipt: fixture.receipt() }),
        ];
        const answers = await Promise.all(
          (round % 2 === 0 ? verbs : verbs.toReversed()).map((verb) => verb()),
        );
        const isKept = (await store.findDelivery(fixture.partition, told.ended.id)) !== null;
        expect(answers).toContain(isKept ? 'done' : 'stale');
      }
    });
  });
}
