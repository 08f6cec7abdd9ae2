/** The columns of each list. */
import type { Attempt, Delivery, Endpoint, Schedule } from '#sdk/index.ts';
import { type Cell, type Column, styled } from '#src/cli/terminal/output.ts';
import { styleOf } from '#src/cli/terminal/screen.ts';
import { relative, shortInstant } from '#src/cli/terminal/time-text.ts';
import { type Instant, parseInstant } from '#src/domain/instant.ts';

const NOTHING = '-';

export function statusCell(status: string): Cell {
  return styled(status, styleOf(status));
}

/** Shortens an instant. A text that is not an instant is shown unchanged. */
export function instantText(text: string | null): string {
  if (text === null) return NOTHING;
  const at = parseInstant(text);
  return at === null ? text : shortInstant(at);
}

export function relativeText(text: string | null, now: number): string {
  const at: Instant | null = text === null ? null : parseInstant(text);
  return at === null ? '' : relative(at, now);
}

export function metadataText(metadata: Readonly<Record<string, string>>): string {
  return Object.entries(metadata)
    .map(([key, value]) => `${key}=${value}`)
    .join(' ');
}

export function timingText({ cron, timezone }: Schedule): string {
  return cron === null ? 'once' : `${cron} ${timezone ?? ''}`;
}

export function scheduleColumns(now: number): readonly Column<Schedule>[] {
  return [
    { title: 'ID', cell: ({ id }) => id },
    { title: 'STATE', cell: ({ state }) => statusCell(state) },
    { title: 'NEXT', cell: ({ next_fire_at }) => instantText(next_fire_at) },
    {
      title: 'IN',
      cell: ({ next_fire_at }) => styled(relativeText(next_fire_at, now).replace(/^in /, ''), 'dim'),
      fit: 'drop',
      isForPeople: true,
    },
    { title: 'TIMING', cell: timingText, fit: 'cut_or_drop' },
    { title: 'METHOD', cell: ({ method }) => method, fit: 'drop' },
    { title: 'ENDPOINT', cell: ({ endpoint }) => endpoint, fit: 'cut' },
    { title: 'METADATA', cell: ({ metadata }) => metadataText(metadata), fit: 'drop' },
  ];
}

export function deliveryColumns(now: number): readonly Column<Delivery>[] {
  return [
    { title: 'ID', cell: ({ id }) => id },
    { title: 'STATUS', cell: ({ status }) => statusCell(status) },
    { title: 'SCHEDULED FOR', cell: ({ scheduled_for }) => instantText(scheduled_for) },
    {
      title: 'WHEN',
      cell: ({ scheduled_for }) => styled(relativeText(scheduled_for, now), 'dim'),
      fit: 'drop',
      isForPeople: true,
    },
    { title: 'ATTEMPTS', cell: ({ attempt_count }) => String(attempt_count), fit: 'drop' },
    { title: 'LAST RESPONSE', cell: lastText, fit: 'cut' },
    { title: 'SCHEDULE', cell: ({ schedule_id }) => schedule_id ?? NOTHING, fit: 'drop' },
  ];
}

/** The result of the last attempt. An error that only repeats the status code is left out. */
export function lastText({ last_status_code: code, error }: Delivery): string {
  if (code === null) return error ?? NOTHING;
  return error === null || error === `HTTP ${code}` ? String(code) : `${code} ${error}`;
}

export const ATTEMPT_COLUMNS: readonly Column<Attempt>[] = [
  { title: 'ATTEMPT', cell: ({ attempt_no }) => String(attempt_no) },
  { title: 'OUTCOME', cell: outcomeCell },
  { title: 'CODE', cell: ({ status_code }) => String(status_code ?? NOTHING) },
  { title: 'FIRED AT', cell: ({ fired_at }) => instantText(fired_at) },
  { title: 'LATE', cell: ({ lateness_ms }) => `${lateness_ms} ms` },
  { title: 'TOOK', cell: ({ egress_ms }) => (egress_ms === null ? NOTHING : `${egress_ms} ms`) },
  { title: 'ERROR', cell: ({ error }) => error ?? NOTHING, fit: 'cut' },
];

/** An attempt in flight has the outcome `retryable` until its real outcome is known. */
export function outcomeCell({ outcome, finished_at }: Attempt): Cell {
  return finished_at === null ? styled('in flight', 'cyan') : statusCell(outcome);
}

export const ENDPOINT_COLUMNS: readonly Column<Endpoint>[] = [
  { title: 'ID', cell: ({ id }) => id },
  { title: 'VERSION', cell: ({ version }) => String(version) },
  { title: 'METHOD', cell: ({ method }) => method },
  { title: 'URL', cell: ({ url }) => url, fit: 'cut' },
  { title: 'ARCHIVED', cell: ({ archived }) => (archived ? 'yes' : 'no'), fit: 'drop' },
  { title: 'METADATA', cell: ({ metadata }) => metadataText(metadata), fit: 'drop' },
];
