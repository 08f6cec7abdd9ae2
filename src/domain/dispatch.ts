/** Decides whether a waiting delivery is sent now. This is the only decision before a claim. */
import type { Delivery } from './delivery.ts';
import { canStart, isSweepPending, isWaiting, type UnfinishedSweep } from './delivery-lifecycle.ts';
import { admit, type Gate, type GateTerms } from './gate.ts';
import type { Instant } from './instant.ts';

export type DispatchDecision =
  | { readonly kind: 'send'; readonly probe: boolean; readonly gate: Gate }
  /** The next attempt is moved. The gate (`gate.ts`) may have reserved a token for it. */
  | { readonly kind: 'defer'; readonly until: Instant; readonly reserved: boolean; readonly gate: Gate }
  /** The delivery ends without this attempt. */
  | { readonly kind: 'end'; readonly why: 'expired' | 'exhausted' }
  /** The delivery was moved since it was read. */
  | { readonly kind: 'not_yet'; readonly dueAt: Instant }
  /** The delivery was canceled, paused, claimed or finished since it was read, or a sweep is about to change it. */
  | { readonly kind: 'gone' };

/** `sweep` is the unfinished sweep of its schedule, if there is one. */
export function decideDispatch(
  delivery: Delivery,
  gate: Gate,
  terms: GateTerms,
  now: Instant,
  sweep: UnfinishedSweep | null = null,
): DispatchDecision {
  const { dueAt } = delivery;
  if (!isWaiting(delivery.status) || dueAt === null || isSweepPending(delivery, sweep))
    return { kind: 'gone' };
  if (dueAt > now) return { kind: 'not_yet', dueAt };
  const start = canStart(delivery, now);
  if (start !== 'yes') return { kind: 'end', why: start };

  const admission = admit(gate, terms, delivery, now);
  if (admission.kind === 'never') return { kind: 'end', why: 'exhausted' };
  if (admission.kind === 'pass') return { kind: 'send', probe: admission.probe, gate: admission.gate };
  // A delivery that would be too late by then expires now.
  const { until, reserved } = admission;
  if (canStart(delivery, until) === 'expired') return { kind: 'end', why: 'expired' };
  return { kind: 'defer', until, reserved, gate: admission.gate };
}
