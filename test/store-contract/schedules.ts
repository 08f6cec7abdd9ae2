import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { archiveProfile, editProfile } from '#src/domain/endpoint-profile.ts';
import type { ScheduleId } from '#src/domain/id.ts';
import type { Schedule } from '#src/domain/schedule.ts';
import * as life from '#src/domain/schedule-lifecycle.ts';
import * as arbitrary from './arbitraries.ts';
import { HOUR_MS, HOURLY, type Made } from './builders.ts';
import { hex } from './everything.ts';
import { type Fixture, firingProfile, pendingOf, type Suite } from './fixture.ts';

const BODY_BYTES_MAX = 4 * 262_144;

export function schedulesContract(suite: Suite): void {
  describe('a schedule', () => {
    test('is read back with its delivery, its profile and its payload', async () => {
      const fixture = await suite.fixture();
      const profile = await fixture.addProfile();
      const inline = fixture.schedule({ timing: HOURLY, jitter: '5m', ttl: '1h', metadata: [['a', 'b']] });
      const payload = Uint8Array.of(0, 1, 2, 254, 255);
      await fixture.store.addSchedule({ ...inline, payload, profile: null, receipt: null });
      const backed = fixture.scheduleOn(profile);
      await fixture.store.addSchedule(backed);

      expect(await fixture.view(inline.schedule.id)).toEqual({ ...inline, profile: null });
      expect(await fixture.delivery(inline.pending.id)).toEqual(inline.pending);
      expect(hex(await fixture.store.findPayload(fixture.partition, inline.schedule.id, 1))).toBe(
        hex(payload),
      );
      expect(await fixture.view(backed.schedule.id)).toEqual({
        schedule: backed.schedule,
        pending: backed.pending,
        profile: firingProfile(profile),
      });
      expect(backed.pending.target).toMatchObject({ endpointId: profile.id, endpointVersion: 1 });
      expect(await fixture.store.findPayload(fixture.partition, backed.schedule.id, 1)).toBeNull();
    });

    test('is read back with every field, and so is its replacement', async () => {
      const fixture = await suite.fixture();
      const before = fc.record({
        schedule: fc.tuple(arbitrary.scheduleConstants, arbitrary.scheduleChanges),
        pending: arbitrary.deliveryChanges,
        payload: fc.option(arbitrary.bytes),
      });
      const after = fc.record({ schedule: arbitrary.scheduleChanges, pending: arbitrary.deliveryChanges });
      await fc.assert(
        fc.asyncProperty(fc.array(fc.tuple(before, after), { minLength: 1, maxLength: 8 }), async (cases) => {
          await Promise.all(cases.map(([first, second]) => roundTrip(fixture, first, second)));
        }),
        { numRuns: 20, seed: 1 },
      );
    });

    test('stores the largest payload byte for byte', async () => {
      const fixture = await suite.fixture();
      const made = fixture.schedule();
      const payload = new Uint8Array(BODY_BYTES_MAX).map((_, index) => (index * 31) % 256);
      await fixture.store.addSchedule({ ...made, payload, profile: null, receipt: null });
      expect(hex(await fixture.store.findPayload(fixture.partition, made.schedule.id, 1))).toBe(hex(payload));
    });

    test('is not found under another partition, nor are its delivery and its payload', async () => {
      const fixture = await suite.fixture();
      const made = fixture.schedule();
      await fixture.store.addSchedule({ ...made, payload: Uint8Array.of(1), profile: null, receipt: null });
      expect(await fixture.store.findSchedule(fixture.neighbour, made.schedule.id)).toBeNull();
      expect(await fixture.store.findDelivery(fixture.neighbour, made.pending.id)).toBeNull();
      expect(await fixture.store.findPayload(fixture.neighbour, made.schedule.id, 1)).toBeNull();
    });

    test('that was never added is not found', async () => {
      const fixture = await suite.fixture();
      const { schedule, pending } = fixture.schedule();
      expect(await fixture.store.findSchedule(fixture.partition, schedule.id)).toBeNull();
      expect(await fixture.store.findDelivery(fixture.partition, pending.id)).toBeNull();
      expect(await fixture.store.findPayload(fixture.partition, schedule.id, 1)).toBeNull();
    });

    test('is added completely or not at all: a taken id or occurrence leaves nothing behind', async () => {
      const fixture = await suite.fixture();
      const view = await fixture.addSchedule({ metadata: [['old', 'label']] });
      const { schedule, pending } = { ...view, pending: pendingOf(view) };
      const other = fixture.schedule({ metadata: [['new', 'label']] });
      const doubles: readonly Made[] = [
        { schedule: { ...other.schedule, id: schedule.id }, pending: other.pending },
        { schedule: other.schedule, pending: { ...other.pending, id: pending.id } },
        { schedule: other.schedule, pending: { ...pending, id: other.pending.id } },
      ];
      for (const double of doubles) {
        const receipt = fixture.receipt();
        await fixture.changesNothing(() =>
          expect(
            fixture.store.addSchedule({ ...double, payload: Uint8Array.of(1), profile: null, receipt }),
          ).rejects.toThrow(),
        );
      }
    });
  });

  describe('a schedule through a profile', () => {
    test('is added if the profile is unchanged', async () => {
      const fixture = await suite.fixture();
      const profile = await fixture.addProfile();
      expect(await fixture.store.addSchedule(fixture.scheduleOn(profile))).toBe('done');
    });

    test.for([
      [
        'was edited',
        (fixture: Fixture, read: ReturnType<Fixture['profile']>) =>
          fixture.store.replaceProfile({
            profile: editProfile(read, {}, fixture.tick()),
            headers: null,
            receipt: null,
          }),
      ],
      [
        'was archived',
        (fixture: Fixture, read: ReturnType<Fixture['profile']>) =>
          fixture.store.archiveProfile(archiveProfile(read, fixture.tick())),
      ],
    ] as const)('is stale if the profile %s in between', async ([, meanwhile]) => {
      const fixture = await suite.fixture();
      const profile = await fixture.addProfile();
      const addition = { ...fixture.scheduleOn(profile), receipt: fixture.receipt() };
      expect(await meanwhile(fixture, profile)).toBe('done');
      expect(await fixture.changesNothing(() => fixture.store.addSchedule(addition))).toBe('stale');
    });

    test('is stale if the profile does not exist in its partition', async () => {
      const fixture = await suite.fixture();
      const unknown = fixture.profile();
      expect(await fixture.changesNothing(() => fixture.store.addSchedule(fixture.scheduleOn(unknown)))).toBe(
        'stale',
      );
      const elsewhere = fixture.profile({ partition: fixture.neighbour });
      await fixture.store.addProfile({ profile: elsewhere, headers: null, receipt: null });
      const claimed = { ...elsewhere, partition: fixture.partition };
      expect(await fixture.changesNothing(() => fixture.store.addSchedule(fixture.scheduleOn(claimed)))).toBe(
        'stale',
      );
    });

    test('is never active on an archived profile, however adding and archiving interleave', async () => {
      const fixture = await suite.fixture();
      for (let round = 0; round < 20; round++) {
        const profile = await fixture.addProfile();
        const add = () => fixture.store.addSchedule(fixture.scheduleOn(profile));
        const archive = () => fixture.store.archiveProfile(archiveProfile(profile, fixture.now));
        const answers = await Promise.all(round % 2 === 0 ? [add(), archive()] : [archive(), add()]);
        const [added, archived] = round % 2 === 0 ? answers : answers.toReversed();
        expect([
          ['done', 'in_use'],
          ['stale', 'done'],
        ]).toContainEqual([added, archived]);
        const after = await fixture.store.findProfile(fixture.partition, profile.id);
        expect(after?.archived).toBe(archived === 'done');
      }
    });
  });

  describe('replacing a schedule', () => {
    test('needs the revision that was read, or nothing changes, not even the pending delivery', async () => {
      const fixture = await suite.fixture();
      const {
        schedule: { id },
      } = await fixture.addSchedule({ metadata: [['team', 'one']] });
      const read = await fixture.view(id);
      await fixture.change(id, (view) => life.edit(view, { ttl: '1h' }, fixture.tick()));
      const late = life.edit(read, { ttl: '2h', metadata: [['team', 'two']] }, fixture.tick());
      const receipt = fixture.receipt();
      expect(await fixture.changesNothing(() => fixture.store.replaceSchedule({ ...late, receipt }))).toBe(
        'stale',
      );
    });

    test('also needs the pending delivery unchanged', async () => {
      const fixture = await suite.fixture();
      const read = await fixture.addSchedule({ metadata: [['team', 'one']] });
      expect(await fixture.store.claim([fixture.claim(pendingOf(read), read)])).toEqual(['done']);
      const late = life.cancel(read, fixture.tick());
      const receipt = fixture.receipt();
      expect(late?.pending?.status).toBe('canceled');
      if (late === null) return;
      expect(await fixture.changesNothing(() => fixture.store.replaceSchedule({ ...late, receipt }))).toBe(
        'stale',
      );
    });

    test('that does not exist is stale', async () => {
      const fixture = await suite.fixture();
      const made = fixture.schedule();
      const change = life.edit({ ...made, profile: null }, { ttl: '1h' }, fixture.tick());
      expect(
        await fixture.changesNothing(() => fixture.store.replaceSchedule({ ...change, receipt: null })),
      ).toBe('stale');
    });

    test('by two that read the same revision succeeds once', async () => {
      const fixture = await suite.fixture();
      const read = await fixture.addSchedule();
      const edits = ['1m', '2m', '3m', '4m'].map((ttl) => life.edit(read, { ttl }, fixture.tick()));
      const written = await Promise.all(
        edits.map((edit) => fixture.store.replaceSchedule({ ...edit, receipt: null })),
      );
      expect(written.toSorted()).toEqual(['done', 'stale', 'stale', 'stale']);
      const winner = edits[written.indexOf('done')];
      expect(await fixture.view(read.schedule.id)).toMatchObject({
        schedule: winner?.schedule,
        pending: winner?.pending,
      });
    });

    test('from one-shot to recurring changes the kind it is listed under', async () => {
      const fixture = await suite.fixture();
      const {
        schedule: { id },
      } = await fixture.addSchedule();
      await fixture.change(id, (view) => life.reschedule(view, HOURLY, fixture.tick()));
      const listed = (kind: 'one_shot' | 'recurring') =>
        fixture.store.listSchedules(
          fixture.partition,
          { state: null, kind, labels: [] },
          { before: null, limit: 9 },
        );
      expect(await listed('one_shot')).toEqual({ items: [], hasMore: false });
      expect((await listed('recurring')).items.map(({ schedule }) => schedule.id)).toEqual([id]);
    });

    test('to an occurrence that exists already changes nothing', async () => {
      const fixture = await suite.fixture();
      const read = await fixture.addSchedule({ timing: HOURLY });
      fixture.tick(HOUR_MS);
      const first = pendingOf(read);
      await fixture.fire(first, { outcome: 'success', statusCode: 200 });
      const pending = await fixture.pending(read.schedule.id);
      const { schedule } = await fixture.view(read.schedule.id);
      const repeated = {
        schedule: { ...schedule, revision: schedule.revision + 1, metadata: [['x', 'y']] as const },
        pending: { ...pending, occurrence: first.occurrence, revision: pending.revision + 1 },
        sweep: null,
        receipt: fixture.receipt(),
      };
      await fixture.changesNothing(() => expect(fixture.store.replaceSchedule(repeated)).rejects.toThrow());
    });
  });
}

interface Contents {
  readonly schedule: readonly [Partial<Schedule>, Partial<Schedule>];
  readonly pending: Partial<Made['pending']>;
  readonly payload: Uint8Array | null;
}

async function roundTrip(
  fixture: Fixture,
  first: Contents,
  second: { readonly schedule: Partial<Schedule>; readonly pending: Partial<Made['pending']> },
): Promise<void> {
  const made = fixture.schedule();
  const schedule: Schedule = { ...made.schedule, ...first.schedule[0], ...first.schedule[1] };
  const pending = { ...made.pending, ...first.pending };
  const { payload } = first;
  expect(await fixture.store.addSchedule({ schedule, pending, payload, profile: null, receipt: null })).toBe(
    'done',
  );
  expect(await fixture.view(schedule.id)).toEqual({ schedule, pending, profile: null });
  expect(await fixture.delivery(pending.id)).toEqual(pending);
  expect(hex(await fixture.store.findPayload(fixture.partition, schedule.id, 1))).toBe(hex(payload));

  const replaced = { ...schedule, ...second.schedule, revision: 2 };
  const moved = { ...pending, ...second.pending, revision: 2 };
  expect(
    await fixture.store.replaceSchedule({ schedule: replaced, pending: moved, sweep: null, receipt: null }),
  ).toBe('done');
  expect(await fixture.view(schedule.id)).toEqual({ schedule: replaced, pending: moved, profile: null });
  for (const [name, value] of replaced.metadata) {
    const filter = { state: null, kind: null, labels: [[name, value]] as const };
    // Many schedules may have this label. The page begins at this one: it sorts right before its id with a suffix.
    const before = `${schedule.id}~` as ScheduleId;
    const { items } = await fixture.store.listSchedules(fixture.partition, filter, { before, limit: 1 });
    expect(items.map((view) => view.schedule.id)).toEqual([schedule.id]);
  }
}
