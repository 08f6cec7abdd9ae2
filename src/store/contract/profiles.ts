import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Instant } from '#src/domain/instant.ts';
import { archiveProfile, type EndpointProfile, editProfile } from '#src/domain/profile.ts';
import type { ScheduleView } from '#src/domain/schedule.ts';
import * as life from '#src/domain/schedule-life.ts';
import * as arbitrary from './arbitraries.ts';
import { type Bench, firingProfile, pendingOf, type Suite } from './bench.ts';
import { SUCCESS } from './builders.ts';
import { hex } from './everything.ts';

export function profilesContract(suite: Suite): void {
  describe('a profile', () => {
    test('is read back field for field, whatever it holds; and so is each version of its headers', async () => {
      const bench = await suite.bench();
      const version = fc.tuple(arbitrary.profileContents, fc.option(arbitrary.bytes));
      await fc.assert(
        fc.asyncProperty(
          fc.array(fc.tuple(version, version), { minLength: 1, maxLength: 6 }),
          async (cases) => {
            await Promise.all(cases.map(([first, second]) => roundTrip(bench, first, second)));
          },
        ),
        { numRuns: 30, seed: 4 },
      );
    });

    test('is not found under another partition, nor are its headers', async () => {
      const bench = await suite.bench();
      const profile = bench.profile();
      await bench.store.addProfile({ profile, headers: Uint8Array.of(1), receipt: null });
      expect(await bench.store.findProfile(bench.neighbour, profile.id)).toBeNull();
      expect(await bench.store.findProfileHeaders(bench.neighbour, profile.id, 1)).toBeNull();
      expect(await bench.store.findProfileHeaders(bench.partition, profile.id, 2)).toBeNull();
    });

    test('is added whole or not at all', async () => {
      const bench = await suite.bench();
      const profile = await bench.addProfile();
      const double = { ...profile, url: 'https://example.com/other' };
      const receipt = bench.receipt();
      await bench.changesNothing(() =>
        expect(bench.store.addProfile({ profile: double, headers: null, receipt })).rejects.toThrow(),
      );
    });

    test('reaches the schedules that deliver through it as it is now', async () => {
      const bench = await suite.bench();
      const profile = await bench.addProfile();
      const view = await bench.addMade(bench.scheduleOn(profile), profile);
      const edited = await edit(bench, profile, { url: 'https://example.com/moved' });
      expect(await bench.view(view.schedule.id)).toEqual({ ...view, profile: firingProfile(edited) });
    });
  });

  describe('replacing a profile', () => {
    test('needs the revision it was read with; else nothing changes', async () => {
      const bench = await suite.bench();
      const profile = await bench.addProfile();
      await edit(bench, profile, { timeout: '1s' });
      const late = editProfile(profile, { timeout: '2s' }, bench.tick());
      const receipt = bench.receipt();
      expect(
        await bench.changesNothing(() =>
          bench.store.replaceProfile({ profile: late, headers: null, receipt }),
        ),
      ).toBe('stale');
    });

    test('and adding schedules to it as it was and as it is, at once: only the newer is added', async () => {
      const bench = await suite.bench();
      const profile = await bench.addProfile();
      const edited = await edit(bench, profile, { timeout: '7s' });
      const additions = [profile, edited, profile].map((seen) => bench.scheduleOn(seen));
      const answers = await Promise.all(additions.map((addition) => bench.store.addSchedule(addition)));
      expect(answers).toEqual(['stale', 'done', 'stale']);
    });

    test('by one of several that read the same is done once', async () => {
      const bench = await suite.bench();
      const profile = await bench.addProfile();
      const edits = ['1s', '2s', '3s'].map((timeout) => editProfile(profile, { timeout }, bench.tick()));
      const written = await Promise.all(
        edits.map((edited) => bench.store.replaceProfile({ profile: edited, headers: null, receipt: null })),
      );
      expect(written.toSorted()).toEqual(['done', 'stale', 'stale']);
      const winner = edits[written.indexOf('done')];
      expect(await bench.store.findProfile(bench.partition, profile.id)).toEqual(winner);
    });

    test('that is archived, or not there', async () => {
      const bench = await suite.bench();
      const archived = archiveProfile(await bench.addProfile(), bench.tick());
      expect(await bench.store.archiveProfile(archived)).toBe('done');
      const edited = await edit(bench, archived, { timeout: '9s' });
      expect(edited).toMatchObject({ archived: true, version: 2, timeout: '9s' });
      const unknown = editProfile(bench.profile(), {}, bench.tick());
      const replace = () => bench.store.replaceProfile({ profile: unknown, headers: null, receipt: null });
      expect(await bench.changesNothing(replace)).toBe('stale');
    });
  });

  describe('archiving a profile', () => {
    test('keeps its version and contents', async () => {
      const bench = await suite.bench();
      const profile = await bench.addProfile({ headerNames: ['x-a'] });
      const archived = archiveProfile(profile, bench.tick());
      expect(await bench.store.archiveProfile(archived)).toBe('done');
      expect(await bench.store.findProfile(bench.partition, profile.id)).toEqual(archived);
      expect(archived).toMatchObject({ version: 1, archived: true, headerNames: ['x-a'] });
    });

    test('needs the revision it was read with', async () => {
      const bench = await suite.bench();
      const profile = await bench.addProfile();
      await edit(bench, profile, { timeout: '1s' });
      const late = archiveProfile(profile, bench.tick());
      expect(await bench.changesNothing(() => bench.store.archiveProfile(late))).toBe('stale');
    });

    test.for([
      ['active', null, 'in_use'],
      ['paused', life.pause, 'in_use'],
      ['canceled', life.cancel, 'done'],
    ] as const)('under a schedule that is %s', async ([, order, answer]) => {
      const bench = await suite.bench();
      const profile = await bench.addProfile();
      const { schedule } = await bench.addMade(bench.scheduleOn(profile), profile);
      if (order !== null) await bench.change(schedule.id, (view) => order(view, bench.tick()));
      expect(await archiveAnswer(bench, profile, answer)).toBe(answer);
    });

    test('under a paused and then canceled schedule, and a completed one', async () => {
      const bench = await suite.bench();
      const profile = await bench.addProfile();
      const canceled = await bench.addMade(bench.scheduleOn(profile), profile);
      const done = await bench.addMade(bench.scheduleOn(profile), profile);
      const steps: readonly ((view: ScheduleView, now: Instant) => life.ScheduleChange | null)[] = [
        life.pause,
        life.cancel,
      ];
      for (const step of steps) {
        expect(await archiveAnswer(bench, profile, 'in_use')).toBe('in_use');
        await bench.change(canceled.schedule.id, (view) => step(view, bench.tick()));
      }
      expect(await archiveAnswer(bench, profile, 'in_use')).toBe('in_use');
      await bench.fire(pendingOf(done), SUCCESS);
      expect((await bench.view(done.schedule.id)).schedule.state).toBe('completed');
      expect(await archiveAnswer(bench, profile, 'done')).toBe('done');
    });

    test('is not hindered by schedules of other profiles or partitions', async () => {
      const bench = await suite.bench();
      const profile = await bench.addProfile();
      const other = await bench.addProfile();
      await bench.addMade(bench.scheduleOn(other), other);
      const namesake = { ...profile, partition: bench.neighbour };
      await bench.store.addProfile({ profile: namesake, headers: null, receipt: null });
      const elsewhere = bench.scheduleOn(namesake, { partition: bench.neighbour });
      expect(await bench.store.addSchedule(elsewhere)).toBe('done');
      expect(await archiveAnswer(bench, profile, 'done')).toBe('done');
    });
  });
}

async function edit(
  bench: Bench,
  profile: EndpointProfile,
  changes: Partial<EndpointProfile>,
): Promise<EndpointProfile> {
  const edited = editProfile(profile, changes, bench.tick());
  expect(await bench.store.replaceProfile({ profile: edited, headers: null, receipt: null })).toBe('done');
  return edited;
}

function archiveAnswer(bench: Bench, profile: EndpointProfile, expected: 'done' | 'in_use'): Promise<string> {
  const archive = () => bench.store.archiveProfile(archiveProfile(profile, bench.tick()));
  return expected === 'done' ? archive() : bench.changesNothing(archive);
}

type Version = readonly [Partial<EndpointProfile>, Uint8Array | null];

async function roundTrip(
  bench: Bench,
  [first, headers]: Version,
  [second, nextHeaders]: Version,
): Promise<void> {
  const profile = bench.profile(first);
  const { partition, store } = bench;
  expect(await store.addProfile({ profile, headers, receipt: null })).toBe('done');
  expect(await store.findProfile(partition, profile.id)).toEqual(profile);
  const edited = editProfile(profile, second, bench.tick());
  expect(await store.replaceProfile({ profile: edited, headers: nextHeaders, receipt: null })).toBe('done');
  expect(await store.findProfile(partition, profile.id)).toEqual(edited);
  expect(hex(await store.findProfileHeaders(partition, profile.id, 1))).toBe(hex(headers));
  expect(hex(await store.findProfileHeaders(partition, profile.id, 2))).toBe(hex(nextHeaders));
}
