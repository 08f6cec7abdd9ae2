/**
 * Positions of the bars in the chart of attempts. Every attempt is a row whose time begins when the attempt was due. Its
 * phases follow each other: waiting to fire, claiming, connecting, waiting for the answer, reading it.
 */
import type { AttemptInfo } from '../../../src/control/http/data-contract.ts';

export type PhaseName = 'late' | 'claimed' | 'connect' | 'wait' | 'read' | 'sent';

export interface Phase {
  readonly name: PhaseName;
  /** From the due instant. */
  readonly fromMs: number;
  readonly untilMs: number;
}

export interface AttemptRow {
  readonly attempt: AttemptInfo;
  readonly phases: readonly Phase[];
  /** From due to end, as far as it is known. */
  readonly totalMs: number;
  /** Null for the first: how long after the end of the one before this one was due. */
  readonly waitMs: number | null;
}

/** The axis is never shorter, so that an attempt that took no time still has a place on it. */
const SPAN_MIN_MS = 10;

export function attemptRows(attempts: readonly AttemptInfo[]): readonly AttemptRow[] {
  return attempts.map((attempt, index) => {
    const phases = phasesOf(attempt);
    const before = attempts[index - 1];
    return {
      attempt,
      phases,
      totalMs: phases.reduce((end, phase) => Math.max(end, phase.untilMs), 0),
      waitMs: before?.finished_at ? millisecondsBetween(before.finished_at, attempt.due_at) : null,
    };
  });
}

/** Phases follow each other; one that is not known is swallowed by the next that is. */
function phasesOf(attempt: AttemptInfo): readonly Phase[] {
  const lateMs = Math.max(0, attempt.lateness_ms);
  const endMs = lateMs + (endOf(attempt) ?? 0);
  const phases: Phase[] = [];
  let from = 0;
  const add = (name: PhaseName, until: number | null) => {
    if (until === null) return;
    const bounded = Math.min(Math.max(until, from), Math.max(endMs, lateMs));
    phases.push({ name, fromMs: from, untilMs: bounded });
    from = bounded;
  };
  const sinceDue = (ms: number | null) => (ms === null ? null : lateMs + ms);
  // A negative claim lies before the fire: part of the lateness was spent with the row already claimed.
  add('late', attempt.claimed_ms === null ? lateMs : Math.max(0, lateMs + Math.min(0, attempt.claimed_ms)));
  if (attempt.claimed_ms !== null) add('claimed', lateMs + Math.max(0, attempt.claimed_ms));
  add('connect', sinceDue(attempt.connected_ms));
  add('wait', sinceDue(attempt.first_byte_ms));
  if (endOf(attempt) !== null) add(lastPhase(attempt), endMs);
  return phases;
}

/** What the time until the end was spent with, seen from what is known before it. */
function lastPhase(attempt: AttemptInfo): PhaseName {
  if (attempt.first_byte_ms !== null) return 'read';
  if (attempt.connected_ms !== null) return 'wait';
  // With timing kept it is known that it never came to a connection; without it nothing is.
  return attempt.claimed_ms === null ? 'sent' : 'connect';
}

function endOf(attempt: AttemptInfo): number | null {
  if (attempt.end_ms !== null) return attempt.end_ms;
  return attempt.finished_at === null ? null : millisecondsBetween(attempt.fired_at, attempt.finished_at);
}

export function millisecondsBetween(from: string, until: string): number {
  return Math.max(0, Date.parse(until) - Date.parse(from));
}

export function spanOf(all: readonly AttemptRow[]): number {
  return all.reduce((longest, row) => Math.max(longest, row.totalMs), SPAN_MIN_MS);
}

/** The position of a time on the axis, from 0 to 1. It is linear, since the bars are stacked. */
export function positionOf(ms: number, spanMs: number): number {
  return Math.min(Math.max(0, ms), spanMs) / spanMs;
}

const TICKS = 4;

export function ticks(spanMs: number): readonly number[] {
  return Array.from({ length: TICKS + 1 }, (_, index) => Math.round((spanMs * index) / TICKS));
}

const PHASE_LABELS: Readonly<Record<PhaseName, string>> = {
  late: 'Waiting to fire',
  claimed: 'Claiming',
  connect: 'Connecting',
  wait: 'Waiting for the first byte',
  read: 'Reading the answer',
  sent: 'Sending',
};

export function phaseLabel(name: PhaseName): string {
  return PHASE_LABELS[name];
}

export function outcomeLabel(attempt: AttemptInfo): string {
  if (attempt.finished_at === null) return 'Being sent';
  if (attempt.outcome === 'success') return 'Succeeded';
  // Whether another attempt follows is told by the rows below, and by the delivery.
  return attempt.outcome === 'terminal' ? 'Failed for good' : 'Failed';
}
