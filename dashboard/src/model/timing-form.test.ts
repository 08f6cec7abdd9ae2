import { describe, expect, it } from 'vitest';
import type { Schedule } from '../../../sdk/src/api-types.ts';
import { newTiming, previewBody, type TimingForm, timingBody, timingOf } from './timing-form.ts';

const NOW_MS = Date.parse('2026-11-15T12:00:00.000Z');
const form = (changes: Partial<TimingForm>): TimingForm => ({
  ...newTiming('Europe/Berlin', NOW_MS),
  ...changes,
});

describe('the body of a timing has the fields of the selected kind', () => {
  it('a delay', () => {
    expect(timingBody(form({ delayAmount: '90', delayUnit: 's' }))).toEqual({ delay: '90s' });
    expect(timingBody(form({ delayAmount: '1.5', delayUnit: 'd' }))).toEqual({ delay: '36h' });
    expect(timingBody(form({ delayAmount: '1h30m' }))).toEqual({ delay: '1h30m' });
  });

  it('an instant, from a time in the zone of the viewer', () => {
    const instant = '2026-12-24T18:30';
    expect(timingBody(form({ kind: 'fire_at', instant }))).toEqual({
      fire_at: '2026-12-24T17:30:00.000Z',
    });
  });

  it('a local time with its zone', () => {
    expect(timingBody(form({ kind: 'local_fire_at', local: '2027-03-28T02:30' }))).toEqual({
      local_fire_at: '2027-03-28T02:30:00',
      timezone: 'Europe/Berlin',
    });
  });

  it('a cron expression with its zone', () => {
    expect(timingBody(form({ kind: 'cron', cron: ' 0 9 * * MON ' }))).toEqual({
      cron: '0 9 * * MON',
      timezone: 'Europe/Berlin',
    });
  });

  it('null while nothing is filled in', () => {
    for (const empty of [
      form({ delayAmount: ' ' }),
      form({ kind: 'fire_at', instant: '' }),
      form({ kind: 'local_fire_at', local: '' }),
      form({ kind: 'cron', cron: '' }),
    ]) {
      expect(timingBody(empty)).toBeNull();
    }
  });
});

it('a preview uses the zone of the viewer if the timing has no zone', () => {
  expect(previewBody(form({}), '')).toEqual({ delay: '5m', timezone: 'Europe/Berlin' });
  const tokyo = form({ kind: 'cron', cron: '0 9 * * *', timezone: 'Asia/Tokyo' });
  expect(previewBody(tokyo, ' 30s ')).toEqual({ cron: '0 9 * * *', timezone: 'Asia/Tokyo', jitter: '30s' });
  expect(previewBody(form({ delayAmount: '' }), '30s')).toBeNull();
});

it('a reschedule starts with the current timing', () => {
  const recurring = { cron: '0 9 * * *', timezone: 'Asia/Tokyo', fire_at: null } as Schedule;
  expect(timingBody(timingOf(recurring, form({})))).toEqual({ cron: '0 9 * * *', timezone: 'Asia/Tokyo' });
  const once = { cron: null, timezone: null, fire_at: '2026-12-01T08:00:00.000Z' } as Schedule;
  expect(timingBody(timingOf(once, form({})))).toEqual({ fire_at: '2026-12-01T08:00:00.000Z' });
});
