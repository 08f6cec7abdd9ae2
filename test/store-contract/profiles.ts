import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { archiveProfile, type EndpointProfile, editProfile } from '#src/domain/endpoint-profile.ts';
import type { Instant } from '#src/domain/instant.ts';
import type { ScheduleView } from '#src/domain/schedule.ts';
import * as life from '#src/domain/schedule-lifecycle.ts';
import * as arbitrary from './arbitraries.ts';
import { SUCCESS } from './builders.ts';
import { hex } from './everything.ts';
import { type Fixture, firingProfile, pendingOf, type Suite } from './fixture.ts';

export function profilesContract(suite: Suite): void {
  describe('a profile', () => {
    test('is read back with every field and every version of its headers', async () => {
      const fixture = await suite.fixture();
      const version = fc.tuple(arbitrary.profileContents, fc.option(arbitrary.bytes));
      await fc.assert(
        fc.asyncProperty(
          fc.array(fc.tuple(version, version), { minLength: 1, maxLength: 6 }),
          async (cases) => {
            await Promise.all(cases.map(([first, second]) => roundTrip(fixture, first, second)));
          },
        ),
        { numRuns: 30, seed: 4 },
      );
    });

    test('is not found under another partition, nor are its headers', async () => {
      const fixture = await suite.fixture();
      const profile = fixture.profile();
      await fixture.store.addProfile({ profile, headers: Uint8Array.of(1), receipt: null });
      expect(await fixture.store.findProfile(fixture.neighbour, profile.id)).toBeNull();
      expect(await fixture.store.findProfileHeaders(fixture.neighbour, profile.id, 1)).toBeNull();
      expect(await fixture.store.findProfileHeaders(fixture.partition, profile.id, 2)).toBeNull();
    });

    test('is added completely or not at all', async () => {
      const fixture = await suite.fixture();
      const profile = await fixture.addProfile();
      const double = { ...profile, url: 'https://example.com/other' };
      const receipt = fixture.receipt();
      await fixture.changesNothing(() =>
        expect(fixture.store.addProfile({ profile: double, headers: null, receipt })).rejects.toThrow(),
      );
    });

    test('is shown in its current version by its schedules', async () => {
      const fixture = await suite.fixture();
      const profile = await fixture.addProfile();
      const view = await fixture.addMade(fixture.scheduleOn(profile), profile);
      const edited = await edit(fixture, profile, { url: 'https://example.com/moved' });
      expect(await fixture.view(view.schedule.id)).toEqual({ ...view, profile: firingProfile(edited) });
    });
  });

  test('a profile that uses Standard Webhooks is found while it does and is not archived', async () => {
    const fixture = await suite.fixture();
    const find = () => fixture.store.findStandardProfile(fixture.partition);
    await fixture.addProfile();
    const namesake = fixture.profile({ partition: fixture.neighbour, standardWebhooks: true });
    await fixture.store.addProfile({ profile: namesake, headers: null, receipt: null });
    expect(await find()).toBeNull();
    const first = await fixture.addProfile({ standardWebhooks: true });
    expect(await find()).toBe(first.id);
    const ended = await edit(fixture, first, { standardWebhooks: false });
    expect(await find()).toBeNull();
    const again = await edit(fixture, ended, { standardWebhooks: true });
    expect(await find()).toBe(first.id);
    expect(await fixture.store.archiveProfile(archiveProfile(again, fixture.tick()))).toBe('done');
    expect(await find()).toBeNull();
  });

  describe('replacing a profile', () => {
    test('needs the revision that was read, or nothing changes', async () => {
      const fixture = await suite.fixture();
      const profile = await fixture.addProfile();
      await edit(fixture, profile, { timeout: '1s' });
      const late = editProfile(profile, { timeout: '2s' }, fixture.tick());
      const receipt = fixture.receipt();
      expect(
        await fixture.changesNothing(() =>
          fixture.store.replaceProfile({ profile: late, headers: null, receipt }),
        ),
      ).toBe('stale');
    });

    test('while schedules are added for both versions: only that of the newer is added', async () => {
      const fixture = await suite.fixture();
      const profile = await fixture.addProfile();
      const edited = await edit(fixture, profile, { timeout: '7s' });
      const additions = [profile, edited, profile].map((seen) => fixture.scheduleOn(seen));
      const answers = await Promise.all(additions.map((addition) => fixture.store.addSchedule(addition)));
      expect(answers).toEqual(['stale', 'done', 'stale']);
    });

    test('by several that read the same revision succeeds once', async () => {
      const fixture = await suite.fixture();
      const profile = await fixture.addProfile();
      const edits = ['1s', '2s', '3s'].map((timeout) => editProfile(profile, { timeout }, fixture.tick()));
      const written = await Promise.all(
        edits.map((edited) =>
          fixture.store.replaceProfile({ profile: edited, headers: null, receipt: null }),
        ),
      );
      expect(written.toSorted()).toEqual(['done', 'stale', 'stale']);
      const winner = edits[written.indexOf('done')];
      expect(await fixture.store.findProfile(fixture.partition, profile.id)).toEqual(winner);
    });

    test('that is archived or does not exist', async () => {
      const fixture = await suite.fixture();
      const archived = archiveProfile(await fixture.addProfile(), fixture.tick());
      expect(await fixture.store.archiveProfile(archived)).toBe('done');
      const edited = await edit(fixture, archived, { timeout: '9s' });
      expect(edited).toMatchObject({ archived: true, version: 2, timeout: '9s' });
      const unknown = editProfile(fixture.profile(), {}, fixture.tick());
      const replace = () => fixture.store.replaceProfile({ profile: unknown, headers: null, receipt: null });
      expect(await fixture.changesNothing(replace)).toBe('stale');
    });
  });

  describe('archiving a profile', () => {
    test('keeps its version and contents', async () => {
      const fixture = await suite.fixture();
      const profile = await fixture.addProfile({ headerNames: ['x-a'] });
      const archived = archiveProfile(profile, fixture.tick());
      expect(await fixture.store.archiveProfile(archived)).toBe('done');
      expect(await fixture.store.findProfile(fixture.partition, profile.id)).toEqual(archived);
      expect(archived).toMatchObject({ version: 1, archived: true, headerNames: ['x-a'] });
    });

    test('needs the revision that was read', async () => {
      const fixture = await suite.fixture();
      const profile = await fixture.addProfile();
      await edit(fixture, profile, { timeout: '1s' });
      const late = archiveProfile(profile, fixture.tick());
      expect(await fixture.changesNothing(() => fixture.store.archiveProfile(late))).toBe('stale');
    });

    test.for([
      ['active', null, 'in_use'],
      ['paused', life.pause, 'in_use'],
      ['canceled', life.cancel, 'done'],
    ] as const)('under a schedule that is %s', async ([, order, answer]) => {
      const fixture = await suite.fixture();
      const profile = await fixture.addProfile();
      const { schedule } = await fixture.addMade(fixture.scheduleOn(profile), profile);
      if (order !== null) await fixture.change(schedule.id, (view) => order(view, fixture.tick()));
      expect(await archiveAnswer(fixture, profile, answer)).toBe(answer);
    });

    test('under a paused and then canceled schedule, and a completed one', async () => {
      const fixture = await suite.fixture();
      const profile = await fixture.addProfile();
      const canceled = await fixture.addMade(fixture.scheduleOn(profile), profile);
      const done = await fixture.addMade(fixture.scheduleOn(profile), profile);
      const steps: readonly ((view: ScheduleView, now: Instant) => life.ScheduleChange | null)[] = [
        life.pause,
        life.cancel,
      ];
      for (const step of steps) {
        expect(await archiveAnswer(fixture, profile, 'in_use')).toBe('in_use');
        await fixture.change(canceled.schedule.id, (view) => step(view, fixture.tick()));
      }
      expect(await archiveAnswer(fixture, profile, 'in_use')).toBe('in_use');
      await fixture.fire(pendingOf(done), SUCCESS);
      expect((await fixture.view(done.schedule.id)).schedule.state).toBe('completed');
      expect(await archiveAnswer(fixture, profile, 'done')).toBe('done');
    });

    test('is not prevented by schedules of other profiles or partitions', async () => {
      const fixture = await suite.fixture();
      const profile = await fixture.addProfile();
      const other = await fixture.addProfile();
      await fixture.addMade(fixture.scheduleOn(other), other);
      const namesake = { ...profile, partition: fixture.neighbour };
      await fixture.store.addProfile({ profile: namesake, headers: null, receipt: null });
      const elsewhere = fixture.scheduleOn(namesake, { partition: fixture.neighbour });
      expect(await fixture.store.addSchedule(elsewhere)).toBe('done');
      expect(await archiveAnswer(fixture, profile, 'done')).toBe('done');
    });
  });
}

async function edit(
  fixture: Fixture,
  profile: EndpointProfile,
  changes: Partial<EndpointProfile>,
): Promise<EndpointProfile> {
  const edited = editProfile(profile, changes, fixture.tick());
  expect(await fixture.store.replaceProfile({ profile: edited, headers: null, receipt: null })).toBe('done');
  return edited;
}

function archiveAnswer(
  fixture: Fixture,
  profile: EndpointProfile,
  expected: 'done' | 'in_use',
): Promise<string> {
  const archive = () => fixture.store.archiveProfile(archiveProfile(profile, fixture.tick()));
  return expected === 'done' ? archive() : fixture.changesNothing(archive);
}

type Version = readonly [Partial<EndpointProfile>, Uint8Array | null];

async function roundTrip(
  fixture: Fixture,
  [first, headers]: Version,
  [second, nextHeaders]: Version,
): Promise<void> {
  const profile = fixture.profile(first);
  const { partition, store } = fixture;
  expect(await store.addProfile({ profile, headers, receipt: null })).toBe('done');
  expect(await store.findProfile(partition, profile.id)).toEqual(profile);
  const edited = editProfile(profile, second, fixture.tick());
  expect(await store.replaceProfile({ profile: edited, headers: nextHeaders, receipt: null })).toBe('done');
  expect(await store.findProfile(partition, profile.id)).toEqual(edited);
  expect(hex(await store.findProfileHeaders(partition, profile.id, 1))).toBe(hex(headers));
  expect(hex(await store.findProfileHeaders(partition, profile.id, 2))).toBe(hex(nextHeaders));
}
