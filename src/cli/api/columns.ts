/** The columns of each list. */
import type { Attempt, Delivery, Endpoint, Schedule } from '#sdk/index.ts';
import type { Cut } from '#src/cli/terminal/fit-columns.ts';
import { type Cell, type Column, styled } from '#src/cli/terminal/output.ts';
import { styleOf } from '#src/cli/terminal/screen.ts';
import { shortUrl } from '#src/cli/terminal/short-url.ts';
import { relative, shortInstant } from '#src/cli/terminal/time-text.ts';
import { type Instant, parseInstant } from '#src/domain/instant.ts';

const NOTHING = '-';

export const URL_CUT: Cut = { min: 16, wanted: 30, shorten: shortUrl };
const STATUS_CUT: Cut = { min: 8, wanted: 11 };

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
  const distance = (at: string | null) => relativeText(at, now).replace(/^in /, '');
  return [
    { title: 'ID', cell: ({ id }) => id, rank: 1 },
    { title: 'STATE', cell: ({ state }) => statusCell(state), rank: 2, cut: STATUS_CUT },
    { title: 'NEXT', cell: ({ next_fire_at }) => instantText(next_fire_at), rank: 6 },
    {
      title: 'FIRES IN',
      cell: ({ next_fire_at }) => styled(distance(next_fire_at) || NOTHING, 'dim'),
      rank: 3,
      isForPeople: true,
    },
    { title: 'TIMING', cell: timingText, rank: 5, cut: { min: 11, wanted: 28 } },
    { title: 'METHOD', cell: ({ method }) => method, rank: 7 },
    { title: 'ENDPOINT', cell: ({ endpoint }) => endpoint, rank: 4, cut: URL_CUT },
    {
      title: 'METADATA',
      cell: ({ metadata }) => metadataText(metadata),
      rank: 8,
      cut: { min: 16, wanted: 32 },
    },
  ];
}

export function deliveryColumns(now: number): readonly Column<Delivery>[] {
  return [
    { title: 'ID', cell: ({ id }) => id, rank: 1 },
    { title: 'STATUS', cell: ({ status }) => statusCell(status), rank: 2, cut: STATUS_CUT },
    { title: 'SCHEDULED FOR', cell: ({ scheduled_for }) => instantText(scheduled_for), rank: 6 },
    {
      title: 'WHEN',
      cell: ({ scheduled_for }) => styled(relativeText(scheduled_for, now), 'dim'),
      rank: 3,
      isForPeople: true,
    },
    { title: 'ATTEMPTS', cell: ({ attempt_count }) => String(attempt_count), rank: 5 },
    { title: 'LAST RESPONSE', cell: lastText, rank: 4, cut: { min: 13, wanted: 13 } },
    { title: 'SCHEDULE', cell: ({ schedule_id }) => schedule_id ?? NOTHING, rank: 7 },
  ];
}

/** The result of the last attempt. An error that only repeats the status code is left out. */
export function lastText({ last_status_code: code, error }: Delivery): string {
  if (code === null) return error ?? NOTHING;
  return error === null || error === `HTTP ${code}` ? String(code) : `${code} ${error}`;
}

export const ATTEMPT_COLUMNS: readonly Column<Attempt>[] = [
  { title: 'ATTEMPT', cell: ({ attempt_no }) => String(attempt_no), rank: 1 },
  { title: 'OUTCOME', cell: outcomeCell, rank: 2 },
  { title: 'CODE', cell: ({ status_code }) => String(status_code ?? NOTHING), rank: 3 },
  { title: 'FIRED AT', cell: ({ fired_at }) => instantText(fired_at), rank: 5 },
  { title: 'LATE', cell: ({ lateness_ms }) => `${lateness_ms} ms`, rank: 7 },
  { title: 'TOOK', cell: ({ egress_ms }) => (egress_ms === null ? NOTHING : `${egress_ms} ms`), rank: 6 },
  { title: 'ERROR', cell: ({ error }) => error ?? NOTHING, rank: 4, cut: { min: 12, wanted: 18 } },
];

/** An attempt in flight has the outcome `retryable` until its real outcome is known. */
export function outcomeCell({ outcome, finished_at }: Attempt): Cell {
  return finished_at === null ? styled('in flight', 'cyan') : statusCell(outcome);
}

export const ENDPOINT_COLUMNS: readonly Column<Endpoint>[] = [
  { title: 'ID', cell: ({ id }) => id, rank: 1 },
  { title: 'VERSION', cell: ({ version }) => String(version), rank: 4 },
  { title: 'METHOD', cell: ({ method }) => method, rank: 3 },
  { title: 'URL', cell: ({ url }) => url, rank: 2, cut: URL_CUT },
  { title: 'ARCHIVED', cell: ({ archived }) => (archived ? 'yes' : 'no'), rank: 5 },
  {
    title: 'METADATA',
    cell: ({ metadata }) => metadataText(metadata),
    rank: 6,
    cut: { min: 16, wanted: 32 },
  },
];
