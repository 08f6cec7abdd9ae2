/**
 * Positions of the bars in the chart of attempts. Every attempt is a row whose time begins when the attempt was due. Its
 * phases follow each other: waiting to fire, claiming, connecting, waiting for the answer, reading it.
 */
import type { AttemptInfo } from '../../../src/control/http/data-contract.ts';
import { linearTicks } from '../chart-geometry.ts';

export type PhaseName = 'late' | 'claimed' | 'connect' | 'wait' | 'read' | 'sent';

export interface Phase {
  readonly name: PhaseName;
  /** Milliseconds since the due instant. */
  readonly fromMs: number;
  readonly untilMs: number;
}

export interface AttemptRow {
  readonly attempt: AttemptInfo;
  readonly phases: readonly Phase[];
  /** The time from the due instant to the last known one. */
  readonly totalMs: number;
  /** The wait between the end of the previous attempt and this due instant. Null for the first attempt. */
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

/** Phases follow each other. The time of an unknown phase is part of the next known one. */
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
  // A negative value means that the delivery was claimed before the fire: then part of the lateness is claiming.
  add('late', attempt.claimed_ms === null ? lateMs : Math.max(0, lateMs + Math.min(0, attempt.claimed_ms)));
  if (attempt.claimed_ms !== null) add('claimed', lateMs + Math.max(0, attempt.claimed_ms));
  add('connect', sinceDue(attempt.connected_ms));
  add('wait', sinceDue(attempt.first_byte_ms));
  if (endOf(attempt) !== null) add(lastPhase(attempt), endMs);
  return phases;
}

/** The phase in which the attempt ended. */
function lastPhase(attempt: AttemptInfo): PhaseName {
  if (attempt.first_byte_ms !== null) return 'read';
  if (attempt.connected_ms !== null) return 'wait';
  // With stored timing it is known that there was no connection. Without timing nothing is known.
  return attempt.claimed_ms === null ? 'sent' : 'connect';
}

function endOf(attempt: AttemptInfo): number | null {
  if (attempt.end_ms !== null) return attempt.end_ms;
  return attempt.finished_at === null ? null : millisecondsBetween(attempt.fired_at, attempt.finished_at);
}

export function millisecondsBetween(from: string, until: string): number {
  return Math.max(0, Date.parse(until) - Date.parse(from));
}

/** Round ticks from 0 to the end of the axis, which has room for the longest attempt. */
export function axisTicks(all: readonly AttemptRow[]): readonly number[] {
  return linearTicks(all.reduce((longest, row) => Math.max(longest, row.totalMs), SPAN_MIN_MS));
}

/** The position of a time on the axis, from 0 to 1. It is linear, since the bars are stacked. */
export function positionOf(ms: number, spanMs: number): number {
  return Math.min(Math.max(0, ms), spanMs) / spanMs;
}

const PHASE_LABELS: Readonly<Record<PhaseName, string>> = {
  late: 'Waiting to fire',
  claimed: 'Claiming',
  connect: 'Connecting',
  wait: 'Waiting for the first byte',
  read: 'Reading the response',
  sent: 'Sending',
};

export function phaseLabel(name: PhaseName): string {
  return PHASE_LABELS[name];
}

export function outcomeLabel(attempt: AttemptInfo): string {
  if (attempt.finished_at === null) return 'In flight';
  if (attempt.outcome === 'success') return 'Succeeded';
  // The other rows and the delivery show whether another attempt follows.
  return attempt.outcome === 'terminal' ? 'Failed, not retryable' : 'Failed';
}
