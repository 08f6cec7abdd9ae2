import { describe, expect, test } from 'vitest';
import { archiveProfile } from '#src/domain/endpoint-profile.ts';
import * as life from '#src/domain/schedule-lifecycle.ts';
import { HOURLY, SUCCESS } from './builders.ts';
import { pendingOf, type Suite } from './fixture.ts';

export function namesContract(suite: Suite): void {
  describe('a name', () => {
    test('belongs to one live schedule of the partition, and is free once that has ended', async () => {
      const fixture = await suite.fixture();
      const find = () => fixture.store.findNamed(fixture.partition, 'schedule', 'report');
      const first = await fixture.addSchedule({ name: 'report', timing: HOURLY });
      expect(first.schedule.name).toBe('report');
      expect(await find()).toBe(first.schedule.id);
      expect(await fixture.store.findNamed(fixture.neighbour, 'schedule', 'report')).toBeNull();
      expect(await fixture.store.findNamed(fixture.partition, 'endpoint', 'report')).toBeNull();

      const second = fixture.schedule({ name: 'report' });
      const receipt = fixture.receipt();
      const refused = () => fixture.store.addSchedule({ ...second, payload: null, profile: null, receipt });
      expect(await fixture.changesNothing(refused)).toBe('name_taken');

      await fixture.change(first.schedule.id, (view) => life.pause(view, fixture.now));
      expect(await find()).toBe(first.schedule.id);
      const canceled = await fixture.change(first.schedule.id, (view) => life.cancel(view, fixture.now));
      expect(canceled.schedule.name).toBe('report');
      expect(await find()).toBeNull();
      expect(await refused()).toBe('done');
      expect(await find()).toBe(second.schedule.id);

      await fixture.fire(pendingOf(await fixture.view(second.schedule.id)), SUCCESS);
      expect((await fixture.view(second.schedule.id)).schedule.state).toBe('completed');
      expect(await find()).toBeNull();
    });

    test('is changed, cleared and exchanged, and a taken one is refused', async () => {
      const fixture = await suite.fixture();
      const [one, other] = [
        await fixture.addSchedule({ name: 'one' }),
        await fixture.addSchedule({ name: 'other' }),
      ];
      const rename = (id: typeof one.schedule.id, name: string | null) =>
        fixture.change(id, (view) => life.edit(view, { name }, fixture.now));
      const edited = life.edit(await fixture.view(one.schedule.id), { name: 'other' }, fixture.now);
      const taken = () => fixture.store.replaceSchedule({ ...edited, receipt: null });
      expect(await fixture.changesNothing(taken)).toBe('name_taken');

      await rename(one.schedule.id, null);
      await rename(other.schedule.id, 'one');
      await rename(one.schedule.id, 'other');
      const find = (name: string) => fixture.store.findNamed(fixture.partition, 'schedule', name);
      expect(await find('one')).toBe(other.schedule.id);
      expect(await find('other')).toBe(one.schedule.id);
    });

    test('of a profile is free once that is archived', async () => {
      const fixture = await suite.fixture();
      const find = () => fixture.store.findNamed(fixture.partition, 'endpoint', 'hooks');
      const first = await fixture.addProfile({ name: 'hooks' });
      expect(await find()).toBe(first.id);
      const second = fixture.profile({ name: 'hooks' });
      const add = () => fixture.store.addProfile({ profile: second, headers: null, receipt: null });
      expect(await fixture.changesNothing(add)).toBe('name_taken');
      expect(await fixture.store.archiveProfile(archiveProfile(first, fixture.now))).toBe('done');
      expect(await find()).toBeNull();
      expect(await add()).toBe('done');
      const renamed = { ...second, name: 'calls', version: 2, revision: 2 };
      const replacement = { profile: renamed, nameBefore: 'hooks', headers: null, receipt: null };
      expect(await fixture.store.replaceProfile(replacement)).toBe('done');
      expect(await find()).toBeNull();
      expect(await fixture.store.findNamed(fixture.partition, 'endpoint', 'calls')).toBe(second.id);
    });

    test('is given to one of many that take it at once', async () => {
      const fixture = await suite.fixture();
      const made = Array.from({ length: 20 }, () => fixture.schedule({ name: 'wanted' }));
      const written = await Promise.all(
        made.map((one) => fixture.store.addSchedule({ ...one, payload: null, profile: null, receipt: null })),
      );
      expect(written.filter((outcome) => outcome === 'done')).toHaveLength(1);
      expect(written.filter((outcome) => outcome === 'name_taken')).toHaveLength(19);
      const holder = made[written.indexOf('done')]?.schedule.id;
      expect(await fixture.store.findNamed(fixture.partition, 'schedule', 'wanted')).toBe(holder);
    });
  });
}
