/**
 * The lifecycle of an incident: a condition became true. The functions are pure.
 *
 *   (none) ──true──▶ noisy ──not true──▶ quiet ──5 minutes──▶ ended
 *                      ▲                   │
 *                      └───────true────────┘
 *
 * One message to each channel is created when an incident begins, and one when it ends. While it is noisy, there is a
 * reminder every 24 hours. There is at most one open incident for each condition and endpoint.
 */
import type { AlertCondition, AlertConditionKind, AlertTerms } from './alert.ts';
import type { EndpointKey } from './endpoint-key.ts';
import type { AlertConditionId, AlertIncidentId } from './id.ts';
import { type Instant, instant, MS_PER_DAY, MS_PER_MINUTE } from './instant.ts';
import type { Partition } from './project.ts';
import { MINUTE_MS, type Stats } from './stats.ts';

/** The facts that people are told about an incident. They stay as they were at its beginning. */
export interface AlertIncidentDetail extends AlertTerms {
  readonly kind: AlertConditionKind;
  /** The name of the endpoint profile; null if there is none. */
  readonly endpointName: string | null;
  /** Failed deliveries when the incident began; null for other kinds. */
  readonly count: number | null;
}

export interface AlertIncident {
  readonly partition: Partition;
  readonly id: AlertIncidentId;
  readonly conditionId: AlertConditionId;
  /** The endpoint whose breaker is not closed. Null for other kinds, and for the endpoints that share an incident. */
  readonly endpoint: EndpointKey | null;
  readonly begunAt: Instant;
  /** Since when the condition has not been true; null while it is true. */
  readonly quietSince: Instant | null;
  /** The last reminder. */
  readonly remindedAt: Instant | null;
  readonly endedAt: Instant | null;
  readonly detail: AlertIncidentDetail;
  readonly revision: number;
}

export const QUIET_MS = 5 * MS_PER_MINUTE;
export const REMINDER_MS = MS_PER_DAY;
/** Endpoints that have an incident of their own, for one condition. Further ones share one. */
export const OWN_INCIDENTS_MAX = 20;
/** Skipped occurrences are true for this long. */
const SKIPPED_WINDOW_MINUTES = 5;

/** A fact that makes a condition true now. */
export interface AlertFinding {
  readonly endpoint: EndpointKey | null;
  readonly count: number | null;
}

/** The saved stats of one minute. */
export interface ObservedMinute {
  readonly at: Instant;
  readonly stats: Pick<Stats, 'deadLettered' | 'expired' | 'downtimeSkips'>;
}

/** The facts about a partition that conditions depend on. */
export interface Observed {
  /** In any order. They reach back as far as `windowMinutesOf` says. */
  readonly minutes: readonly ObservedMinute[];
  /** Endpoints whose breakers are not closed. */
  readonly openEndpoints: readonly EndpointKey[];
}

/** Returns how many minutes of stats the condition needs. */
export function windowMinutesOf({ kind, windowMinutes }: AlertCondition): number {
  if (kind === 'deliveries_failed') return windowMinutes ?? 0;
  return kind === 'occurrences_skipped' ? SKIPPED_WINDOW_MINUTES : 0;
}

/** Returns what makes the condition true, or nothing. */
export function findingsOf(
  condition: AlertCondition,
  { minutes, openEndpoints }: Observed,
  now: Instant,
): readonly AlertFinding[] {
  if (condition.kind === 'breaker_opened')
    return openEndpoints.map((endpoint) => ({ endpoint, count: null }));
  const from = firstMinute(windowMinutesOf(condition), now);
  let failed = 0;
  let skipped = 0;
  for (const { at, stats } of minutes) {
    if (at < from) continue;
    failed += stats.deadLettered + stats.expired;
    skipped += stats.downtimeSkips;
  }
  if (condition.kind === 'occurrences_skipped') return skipped > 0 ? [{ endpoint: null, count: null }] : [];
  return failed > (condition.threshold ?? 0) ? [{ endpoint: null, count: failed }] : [];
}

/** The window begins with a whole minute, so it may be up to a minute longer. */
export function firstMinute(windowMinutes: number, now: Instant): Instant {
  const from = now - windowMinutes * MINUTE_MS;
  return instant(Math.max(from - (from % MINUTE_MS), 0));
}

export type IncidentMessageKind = 'opened' | 'reminder' | 'closed';

export interface IncidentChange {
  readonly incident: AlertIncident;
  /** The message that is created with the change; null if the change is not told. */
  readonly message: IncidentMessageKind | null;
}

export interface IncidentDecision {
  /** Incidents to begin. */
  readonly begun: readonly AlertFinding[];
  /** Incidents that change. */
  readonly changed: readonly IncidentChange[];
}

/** Decides about a condition by its open incidents and what is true of it now. */
export function decideIncidents(
  open: readonly AlertIncident[],
  findings: readonly AlertFinding[],
  now: Instant,
): IncidentDecision {
  const known = new Set(open.map(({ endpoint }) => endpoint));
  const free = OWN_INCIDENTS_MAX - open.filter(({ endpoint }) => endpoint !== null).length;
  const unknown = findings.filter(({ endpoint }) => endpoint !== null && !known.has(endpoint));
  const own = unknown.slice(0, Math.max(free, 0));
  const shared = unknown.length > own.length ? [{ endpoint: null, count: null }] : [];
  const ofNoEndpoint = [...findings.filter(({ endpoint }) => endpoint === null), ...shared];
  const found = new Set([...findings, ...shared].map(({ endpoint }) => endpoint));
  return {
    begun: [...own, ...ofNoEndpoint.filter(() => !known.has(null))],
    changed: open.flatMap((incident) => change(incident, found.has(incident.endpoint), now) ?? []),
  };
}

function change(incident: AlertIncident, isTrue: boolean, now: Instant): IncidentChange | null {
  const next = { ...incident, revision: incident.revision + 1 };
  const { quietSince } = incident;
  if (isTrue) {
    if (quietSince !== null) return { incident: { ...next, quietSince: null }, message: null };
    const told = incident.remindedAt ?? incident.begunAt;
    if (now - told < REMINDER_MS) return null;
    return { incident: { ...next, remindedAt: now }, message: 'reminder' };
  }
  // After the clock was set back, the quiet time begins anew.
  if (quietSince === null || quietSince > now)
    return { incident: { ...next, quietSince: now }, message: null };
  if (now - quietSince < QUIET_MS) return null;
  return { incident: { ...next, endedAt: now }, message: 'closed' };
}

export function beginIncident(
  { partition, id: conditionId, kind, threshold, windowMinutes }: AlertCondition,
  id: AlertIncidentId,
  { endpoint, count }: AlertFinding,
  endpointName: string | null,
  now: Instant,
): AlertIncident {
  return {
    partition,
    id,
    conditionId,
    endpoint,
    begunAt: now,
    quietSince: null,
    remindedAt: null,
    endedAt: null,
    detail: { kind, threshold, windowMinutes, endpointName, count },
    revision: 1,
  };
}
