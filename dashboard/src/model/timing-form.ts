/**
 * The timing of a schedule as a form with four kinds. Each kind keeps its own text, so that switching between them loses
 * nothing. The body has the fields that create, reschedule and preview accept.
 */

import type { Schedule, ScheduleCreate, ScheduleReschedule } from '../../../sdk/src/api-types.ts';
import { toInstant, toWallTime } from './wall-clock.ts';

export type TimingKind = Exclude<keyof ScheduleReschedule, 'timezone'>;

export type PreviewRequest = ScheduleReschedule & Pick<ScheduleCreate, 'jitter'>;

export const DELAY_UNITS = { s: 'seconds', m: 'minutes', h: 'hours', d: 'days' } as const;
export type DelayUnit = keyof typeof DELAY_UNITS;

export interface TimingForm {
  readonly kind: TimingKind;
  readonly delayAmount: string;
  readonly delayUnit: DelayUnit;
  /** The value of an `<input type=datetime-local>`, in `viewerZone`. */
  readonly instant: string;
  readonly viewerZone: string;
  readonly local: string;
  readonly cron: string;
  /** The zone of `local` and `cron`. */
  readonly timezone: string;
}

export const CRON_PRESETS: readonly { readonly label: string; readonly cron: string }[] = [
  { label: 'Every 5 minutes', cron: '*/5 * * * *' },
  { label: 'Hourly', cron: '0 * * * *' },
  { label: 'Daily at 09:00', cron: '0 9 * * *' },
  { label: 'Weekdays at 09:00', cron: '0 9 * * MON-FRI' },
  { label: 'Mondays at 08:00', cron: '0 8 * * MON' },
  { label: 'Monthly on the 1st', cron: '0 0 1 * *' },
];

const SUGGESTED_MS = 60 * 60_000;

export function newTiming(viewerZone: string, nowMs: number): TimingForm {
  const soon = toWallTime(new Date(nowMs + SUGGESTED_MS).toISOString(), viewerZone);
  return {
    kind: 'delay',
    delayAmount: '5',
    delayUnit: 'm',
    instant: soon,
    viewerZone,
    local: soon,
    cron: '0 9 * * MON-FRI',
    timezone: viewerZone,
  };
}

/** The form for a reschedule starts with the current timing. */
export function timingOf(schedule: Schedule, fresh: TimingForm): TimingForm {
  if (schedule.cron !== null) {
    return { ...fresh, kind: 'cron', cron: schedule.cron, timezone: schedule.timezone ?? 'UTC' };
  }
  if (schedule.fire_at === null) return fresh;
  return {
    ...fresh,
    kind: 'fire_at',
    instant: toWallTime(schedule.fire_at, fresh.viewerZone),
    timezone: schedule.timezone ?? fresh.timezone,
  };
}

/** The fields of the API that the form shows. */
export function timingFields({ kind }: Pick<TimingForm, 'kind'>): readonly string[] {
  return kind === 'cron' || kind === 'local_fire_at' ? [kind, 'timezone'] : [kind];
}

/** Null: nothing is filled in yet. */
export function timingBody(form: TimingForm): PreviewRequest | null {
  switch (form.kind) {
    case 'delay': {
      const amount = form.delayAmount.trim();
      return amount === '' ? null : { delay: delayText(amount, form.delayUnit) };
    }
    case 'fire_at': {
      const at = toInstant(form.instant, form.viewerZone);
      return at === null ? null : { fire_at: at };
    }
    case 'local_fire_at':
      return form.local === '' ? null : { local_fire_at: withSeconds(form.local), timezone: form.timezone };
    case 'cron': {
      const cron = form.cron.trim();
      return cron === '' ? null : { cron, timezone: form.timezone };
    }
  }
}

/** The body of a preview. A timing without a zone is shown in the zone of the viewer. */
export function previewBody(form: TimingForm, jitter: string): PreviewRequest | null {
  const body = timingBody(form);
  if (body === null) return null;
  return { timezone: form.viewerZone, ...body, ...(jitter.trim() !== '' && { jitter: jitter.trim() }) };
}

/** A duration with units (`1h30m`) does not change. Days become hours, since the API has no unit for days. */
function delayText(amount: string, unit: DelayUnit): string {
  if (!/^\d+(\.\d+)?$/.test(amount)) return amount;
  return unit === 'd' ? `${Number(amount) * 24}h` : `${amount}${unit}`;
}

function withSeconds(local: string): string {
  return local.length === 16 ? `${local}:00` : local.slice(0, 19);
}
