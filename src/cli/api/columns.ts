/** The columns of each list. */
import type { Attempt, Delivery, Endpoint, RecentAttempt, Schedule } from '#sdk/index.ts';
import type { Cut } from '#src/cli/terminal/fit-columns.ts';
import { ABSENT, type Cell, type Column, styled } from '#src/cli/terminal/output.ts';
import { type Screen, styleOf } from '#src/cli/terminal/screen.ts';
import { shortUrl } from '#src/cli/terminal/short-url.ts';
import { relative, shortInstant } from '#src/cli/terminal/time-text.ts';
import { cutTo } from '#src/cli/terminal/width.ts';
import { type Instant, parseInstant } from '#src/domain/instant.ts';

export const URL_CUT: Cut = { min: 16, wanted: 30, shorten: shortUrl };
const STATUS_CUT: Cut = { min: 8, wanted: 11 };
/** A name is cut at its end, and a URL in its middle. */
const TITLE_CUT: Cut = {
  min: 8,
  wanted: 20,
  shorten: (text, cells) => (text.includes('/') ? shortUrl(text, cells) : cutTo(text, cells)),
};
/** With this, a destination and a status fit 80 columns together. */
const DESTINATION_CUT: Cut = { min: 12, wanted: 24, shorten: shortUrl };

/** A service of an earlier version does not send newer fields. */
function textOr(text: string | null | undefined): string {
  return text ?? ABSENT;
}

export function statusCell(status: string): Cell {
  return styled(status, styleOf(status));
}

/** Shortens an instant. A text that is not an instant is shown unchanged. */
export function instantText(text: string | null): string {
  if (text === null) return ABSENT;
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

function isAnyNamed(objects: readonly { readonly name?: string | null }[]): boolean {
  return objects.some(({ name }) => textOr(name) !== ABSENT);
}

/** For a person, the title of a schedule is its name, else its destination. */
export function scheduleColumns(now: number, { columns }: Screen): readonly Column<Schedule>[] {
  const titleOf = ({ name, endpoint }: Schedule) => (columns === null ? textOr(name) : (name ?? endpoint));
  const distance = (at: string | null) => relativeText(at, now).replace(/^in /, '');
  return [
    { title: 'ID', cell: ({ id }) => id, rank: 1 },
    { title: 'STATE', cell: ({ state }) => statusCell(state), rank: 2, cut: STATUS_CUT },
    { title: 'NAME', cell: titleOf, rank: 4, cut: TITLE_CUT, isTelling: isAnyNamed },
    { title: 'NEXT', cell: ({ next_fire_at }) => instantText(next_fire_at), rank: 8 },
    {
      title: 'FIRES IN',
      cell: ({ next_fire_at }) => styled(distance(next_fire_at) || ABSENT, 'dim'),
      rank: 3,
      isForPeople: true,
    },
    { title: 'TIMING', cell: timingText, rank: 7, cut: { min: 11, wanted: 28 } },
    { title: 'METHOD', cell: ({ method }) => method, rank: 6 },
    { title: 'ENDPOINT', cell: ({ endpoint }) => endpoint, rank: 5, cut: URL_CUT },
    {
      title: 'METADATA',
      cell: ({ metadata }) => metadataText(metadata),
      rank: 9,
      cut: { min: 16, wanted: 32 },
    },
  ];
}

export function deliveryColumns(now: number): readonly Column<Delivery>[] {
  return [
    { title: 'ID', cell: ({ id }) => id, rank: 1 },
    { title: 'STATUS', cell: ({ status }) => statusCell(status), rank: 2, cut: STATUS_CUT },
    { title: 'SCHEDULED FOR', cell: ({ scheduled_for }) => instantText(scheduled_for), rank: 8 },
    {
      title: 'WHEN',
      cell: ({ scheduled_for }) => styled(relativeText(scheduled_for, now), 'dim'),
      rank: 3,
      isForPeople: true,
    },
    { title: 'ATTEMPTS', cell: ({ attempt_count }) => String(attempt_count), rank: 7 },
    { title: 'RESPONSE', cell: lastText, rank: 4, cut: { min: 8, wanted: 8 } },
    { title: 'METHOD', cell: ({ method }) => textOr(method), rank: 6 },
    { title: 'URL', cell: ({ url }) => textOr(url), rank: 5, cut: DESTINATION_CUT },
    { title: 'SCHEDULE', cell: ({ schedule_id }) => schedule_id ?? ABSENT, rank: 9 },
  ];
}

/** The result of the last attempt. An error that only repeats the status code is left out. */
export function lastText({ last_status_code: code, error }: Delivery): string {
  if (code === null) return error ?? ABSENT;
  return error === null || error === `HTTP ${code}` ? String(code) : `${code} ${error}`;
}

export const ATTEMPT_COLUMNS: readonly Column<Attempt>[] = [
  { title: 'ATTEMPT', cell: ({ attempt_no }) => String(attempt_no), rank: 1 },
  { title: 'OUTCOME', cell: outcomeCell, rank: 2 },
  { title: 'CODE', cell: ({ status_code }) => String(status_code ?? ABSENT), rank: 3 },
  { title: 'FIRED AT', cell: ({ fired_at }) => instantText(fired_at), rank: 5 },
  { title: 'LATE', cell: ({ lateness_ms }) => `${lateness_ms} ms`, rank: 7 },
  { title: 'TOOK', cell: tookText, rank: 6 },
  { title: 'ERROR', cell: ({ error }) => error ?? ABSENT, rank: 4, cut: { min: 12, wanted: 18 } },
];

/** The columns of attempts of several deliveries. */
export function recentAttemptColumns(now: number): readonly Column<RecentAttempt>[] {
  return [
    { title: 'DELIVERY', cell: ({ delivery_id }) => delivery_id, rank: 1 },
    { title: 'ATTEMPT', cell: ({ attempt_no }) => String(attempt_no), rank: 6 },
    { title: 'OUTCOME', cell: outcomeCell, rank: 2 },
    { title: 'CODE', cell: ({ status_code }) => String(status_code ?? ABSENT), rank: 3 },
    { title: 'FINISHED AT', cell: ({ finished_at }) => instantText(finished_at), rank: 9 },
    {
      title: 'WHEN',
      cell: ({ finished_at }) => styled(relativeText(finished_at, now), 'dim'),
      rank: 4,
      isForPeople: true,
    },
    { title: 'TOOK', cell: tookText, rank: 10 },
    { title: 'METHOD', cell: ({ method }) => method, rank: 8 },
    { title: 'URL', cell: ({ url }) => url, rank: 5, cut: DESTINATION_CUT },
    { title: 'ERROR', cell: ({ error }) => error ?? ABSENT, rank: 7, cut: { min: 12, wanted: 18 } },
    { title: 'SCHEDULE', cell: ({ schedule_id }) => schedule_id ?? ABSENT, rank: 12 },
    {
      title: 'NAME',
      cell: ({ schedule_name }) => textOr(schedule_name),
      rank: 11,
      isTelling: (attempts) => attempts.some(({ schedule_name }) => textOr(schedule_name) !== ABSENT),
    },
  ];
}

function tookText({ egress_ms }: Attempt): string {
  return egress_ms === null ? ABSENT : `${egress_ms} ms`;
}

/** An attempt in flight has the outcome `retryable` until its real outcome is known. */
export function outcomeCell({ outcome, finished_at }: Attempt): Cell {
  return finished_at === null ? styled('in flight', 'cyan') : statusCell(outcome);
}

export const ENDPOINT_COLUMNS: readonly Column<Endpoint>[] = [
  { title: 'ID', cell: ({ id }) => id, rank: 1 },
  { title: 'NAME', cell: ({ name }) => textOr(name), rank: 2, cut: TITLE_CUT, isTelling: isAnyNamed },
  { title: 'VERSION', cell: ({ version }) => String(version), rank: 5 },
  { title: 'METHOD', cell: ({ method }) => method, rank: 4 },
  { title: 'URL', cell: ({ url }) => url, rank: 3, cut: URL_CUT },
  { title: 'ARCHIVED', cell: ({ archived }) => (archived ? 'yes' : 'no'), rank: 6 },
  {
    title: 'METADATA',
    cell: ({ metadata }) => metadataText(metadata),
    rank: 7,
    cut: { min: 16, wanted: 32 },
  },
];
