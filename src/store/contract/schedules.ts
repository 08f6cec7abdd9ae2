import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { archiveProfile, editProfile } from '#src/domain/profile.ts';
import type { Schedule } from '#src/domain/schedule.ts';
import * as life from '#src/domain/schedule-life.ts';
import * as arbitrary from './arbitraries.ts';
import { type Bench, firingProfile, pendingOf, type Suite } from './bench.ts';
import { HOUR_MS, HOURLY, type Made } from './builders.ts';
import { hex } from './everything.ts';

const BODY_BYTES_MAX = 4 * 262_144;

export function schedulesContract(suite: Suite): void {
  describe('a schedule', () => {
    test('is read back with its delivery, its profile and its payload', async () => {
      const bench = await suite.bench();
      const profile = await bench.addProfile();
      const inline = bench.schedule({ timing: HOURLY, jitter: '5m', ttl: '1h', metadata: [['a', 'b']] });
      const payload = Uint8Array.of(0, 1, 2, 254, 255);
      await bench.store.addSchedule({ ...inline, payload, profile: null, receipt: null });
      const backed = bench.scheduleOn(profile);
      await bench.store.addSchedule(backed);

      expect(await bench.view(inline.schedule.id)).toEqual({ ...inline, profile: null });
      expect(await bench.delivery(inline.pending.id)).toEqual(inline.pending);
      expect(hex(await bench.store.findPayload(bench.partition, inline.schedule.id))).toBe(hex(payload));
      expect(await bench.view(backed.schedule.id)).toEqual({
        schedule: backed.schedule,
        pending: backed.pending,
        profile: firingProfile(profile),
      });
      expect(backed.pending.target).toMatchObject({ endpointId: profile.id, endpointVersion: 1 });
      expect(await bench.store.findPayload(bench.partition, backed.schedule.id)).toBeNull();
    });

    test('is read back field for field, whatever it holds; and so is what replaces it', async () => {
      const bench = await suite.bench();
      const before = fc.record({
        schedule: fc.tuple(arbitrary.scheduleConstants, arbitrary.scheduleChanges),
        pending: arbitrary.deliveryChanges,
        payload: fc.option(arbitrary.bytes),
      });
      const after = fc.record({ schedule: arbitrary.scheduleChanges, pending: arbitrary.deliveryChanges });
      await fc.assert(
        fc.asyncProperty(fc.array(fc.tuple(before, after), { minLength: 1, maxLength: 8 }), async (cases) => {
          await Promise.all(cases.map(([first, second]) => roundTrip(bench, first, second)));
        }),
        { numRuns: 40, seed: 1 },
      );
    });

    test('keeps the largest payload byte for byte', async () => {
      const bench = await suite.bench();
      const made = bench.schedule();
      const payload = new Uint8Array(BODY_BYTES_MAX).map((_, index) => (index * 31) % 256);
      await bench.store.addSchedule({ ...made, payload, profile: null, receipt: null });
      expect(hex(await bench.store.findPayload(bench.partition, made.schedule.id))).toBe(hex(payload));
    });

    test('is not found under another partition, nor are its delivery and its payload', async () => {
      const bench = await suite.bench();
      const made = bench.schedule();
      await bench.store.addSchedule({ ...made, payload: Uint8Array.of(1), profile: null, receipt: null });
      expect(await bench.store.findSchedule(bench.neighbour, made.schedule.id)).toBeNull();
      expect(await bench.store.findDelivery(bench.neighbour, made.pending.id)).toBeNull();
      expect(await bench.store.findPayload(bench.neighbour, made.schedule.id)).toBeNull();
    });

    test('that was never added is not found', async () => {
      const bench = await suite.bench();
      const { schedule, pending } = bench.schedule();
      expect(await bench.store.findSchedule(bench.partition, schedule.id)).toBeNull();
      expect(await bench.store.findDelivery(bench.partition, pending.id)).toBeNull();
      expect(await bench.store.findPayload(bench.partition, schedule.id)).toBeNull();
    });

    test('is added whole or not at all: an id or an occurrence that is taken leaves nothing behind', async () => {
      const bench = await suite.bench();
      const view = await bench.addSchedule({ metadata: [['old', 'label']] });
      const { schedule, pending } = { ...view, pending: pendingOf(view) };
      const other = bench.schedule({ metadata: [['new', 'label']] });
      const doubles: readonly Made[] = [
        { schedule: { ...other.schedule, id: schedule.id }, pending: other.pending },
        { schedule: other.schedule, pending: { ...other.pending, id: pending.id } },
        { schedule: other.schedule, pending: { ...pending, id: other.pending.id } },
      ];
      for (const double of doubles) {
        const receipt = bench.receipt();
        await bench.changesNothing(() =>
          expect(
            bench.store.addSchedule({ ...double, payload: Uint8Array.of(1), profile: null, receipt }),
          ).rejects.toThrow(),
        );
      }
    });
  });

  describe('a schedule through a profile', () => {
    test('is added while the profile is as it was read', async () => {
      const bench = await suite.bench();
      const profile = await bench.addProfile();
      expect(await bench.store.addSchedule(bench.scheduleOn(profile))).toBe('done');
    });

    test.for([
      [
        'was edited',
        (bench: Bench, read: ReturnType<Bench['profile']>) =>
          bench.store.replaceProfile({
            profile: editProfile(read, {}, bench.tick()),
            headers: null,
            receipt: null,
          }),
      ],
      [
        'was archived',
        (bench: Bench, read: ReturnType<Bench['profile']>) =>
          bench.store.archiveProfile(archiveProfile(read, bench.tick())),
      ],
    ] as const)('is stale when the profile %s meanwhile', async ([, meanwhile]) => {
      const bench = await suite.bench();
      const profile = await bench.addProfile();
      const addition = { ...bench.scheduleOn(profile), receipt: bench.receipt() };
      expect(await meanwhile(bench, profile)).toBe('done');
      expect(await bench.changesNothing(() => bench.store.addSchedule(addition))).toBe('stale');
    });

    test('is stale when there is no such profile, or only in another partition', async () => {
      const bench = await suite.bench();
      const unknown = bench.profile();
      expect(await bench.changesNothing(() => bench.store.addSchedule(bench.scheduleOn(unknown)))).toBe(
        'stale',
      );
      const elsewhere = bench.profile({ partition: bench.neighbour });
      await bench.store.addProfile({ profile: elsewhere, headers: null, receipt: null });
      const claimed = { ...elsewhere, partition: bench.partition };
      expect(await bench.changesNothing(() => bench.store.addSchedule(bench.scheduleOn(claimed)))).toBe(
        'stale',
      );
    });

    test('never ends up active on an archived profile, however adding and archiving interleave', async () => {
      const bench = await suite.bench();
      for (let round = 0; round < 20; round++) {
        const profile = await bench.addProfile();
        const add = () => bench.store.addSchedule(bench.scheduleOn(profile));
        const archive = () => bench.store.archiveProfile(archiveProfile(profile, bench.now));
        const answers = await Promise.all(round % 2 === 0 ? [add(), archive()] : [archive(), add()]);
        const [added, archived] = round % 2 === 0 ? answers : answers.toReversed();
        expect([
          ['done', 'in_use'],
          ['stale', 'done'],
        ]).toContainEqual([added, archived]);
        const after = await bench.store.findProfile(bench.partition, profile.id);
        expect(after?.archived).toBe(archived === 'done');
      }
    });
  });

  describe('replacing a schedule', () => {
    test('needs the revision it was read with; else nothing changes, not even the pending delivery', async () => {
      const bench = await suite.bench();
      const {
        schedule: { id },
      } = await bench.addSchedule({ metadata: [['team', 'one']] });
      const read = await bench.view(id);
      await bench.change(id, (view) => life.edit(view, { ttl: '1h' }, bench.tick()));
      const late = life.edit(read, { ttl: '2h', metadata: [['team', 'two']] }, bench.tick());
      const receipt = bench.receipt();
      expect(await bench.changesNothing(() => bench.store.replaceSchedule({ ...late, receipt }))).toBe(
        'stale',
      );
    });

    test('needs the pending delivery as it was read too', async () => {
      const bench = await suite.bench();
      const read = await bench.addSchedule({ metadata: [['team', 'one']] });
      expect(await bench.store.claim([bench.claim(pendingOf(read), read)])).toEqual(['done']);
      const late = life.cancel(read, bench.tick());
      const receipt = bench.receipt();
      expect(late?.pending?.status).toBe('canceled');
      if (late === null) return;
      expect(await bench.changesNothing(() => bench.store.replaceSchedule({ ...late, receipt }))).toBe(
        'stale',
      );
    });

    test('that is not there is stale', async () => {
      const bench = await suite.bench();
      const made = bench.schedule();
      const change = life.edit({ ...made, profile: null }, { ttl: '1h' }, bench.tick());
      expect(
        await bench.changesNothing(() => bench.store.replaceSchedule({ ...change, receipt: null })),
      ).toBe('stale');
    });

    test('by one of two that read the same is done once', async () => {
      const bench = await suite.bench();
      const read = await bench.addSchedule();
      const edits = ['1m', '2m', '3m', '4m'].map((ttl) => life.edit(read, { ttl }, bench.tick()));
      const written = await Promise.all(
        edits.map((edit) => bench.store.replaceSchedule({ ...edit, receipt: null })),
      );
      expect(written.toSorted()).toEqual(['done', 'stale', 'stale', 'stale']);
      const winner = edits[written.indexOf('done')];
      expect(await bench.view(read.schedule.id)).toMatchObject({
        schedule: winner?.schedule,
        pending: winner?.pending,
      });
    });

    test('from one-shot to recurring changes the kind it is listed under', async () => {
      const bench = await suite.bench();
      const {
        schedule: { id },
      } = await bench.addSchedule();
      await bench.change(id, (view) => life.reschedule(view, HOURLY, bench.tick()));
      const listed = (kind: 'one_shot' | 'recurring') =>
        bench.store.listSchedules(
          bench.partition,
          { state: null, kind, labels: [] },
          { before: null, limit: 9 },
        );
      expect(await listed('one_shot')).toEqual({ items: [], hasMore: false });
      expect((await listed('recurring')).items.map(({ schedule }) => schedule.id)).toEqual([id]);
    });

    test('to an occurrence that was delivered already leaves nothing behind', async () => {
      const bench = await suite.bench();
      const read = await bench.addSchedule({ timing: HOURLY });
      bench.tick(HOUR_MS);
      const first = pendingOf(read);
      await bench.fire(first, { outcome: 'success', statusCode: 200 });
      const pending = await bench.pending(read.schedule.id);
      const { schedule } = await bench.view(read.schedule.id);
      const repeated = {
        schedule: { ...schedule, revision: schedule.revision + 1, metadata: [['x', 'y']] as const },
        pending: { ...pending, occurrence: first.occurrence, revision: pending.revision + 1 },
        sweep: null,
        receipt: bench.receipt(),
      };
      await bench.changesNothing(() => expect(bench.store.replaceSchedule(repeated)).rejects.toThrow());
    });
  });
}

interface Contents {
  readonly schedule: readonly [Partial<Schedule>, Partial<Schedule>];
  readonly pending: Partial<Made['pending']>;
  readonly payload: Uint8Array | null;
}

async function roundTrip(
  bench: Bench,
  first: Contents,
  second: { readonly schedule: Partial<Schedule>; readonly pending: Partial<Made['pending']> },
): Promise<void> {
  const made = bench.schedule();
  const schedule: Schedule = { ...made.schedule, ...first.schedule[0], ...first.schedule[1] };
  const pending = { ...made.pending, ...first.pending };
  const { payload } = first;
  expect(await bench.store.addSchedule({ schedule, pending, payload, profile: null, receipt: null })).toBe(
    'done',
  );
  expect(await bench.view(schedule.id)).toEqual({ schedule, pending, profile: null });
  expect(await bench.delivery(pending.id)).toEqual(pending);
  expect(hex(await bench.store.findPayload(bench.partition, schedule.id))).toBe(hex(payload));

  const replaced = { ...schedule, ...second.schedule, revision: 2 };
  const moved = { ...pending, ...second.pending, revision: 2 };
  expect(
    await bench.store.replaceSchedule({ schedule: replaced, pending: moved, sweep: null, receipt: null }),
  ).toBe('done');
  expect(await bench.view(schedule.id)).toEqual({ schedule: replaced, pending: moved, profile: null });
  for (const [name, value] of replaced.metadata) {
    const filter = { state: null, kind: null, labels: [[name, value]] as const };
    const { items: labelled } = await bench.store.listSchedules(bench.partition, filter, {
      before: null,
      limit: 1_000,
    });
    expect(labelled.map((view) => view.schedule.id)).toContain(schedule.id);
  }
}
