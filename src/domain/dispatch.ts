/** Whether a waiting delivery is sent now: the one decision made before it is claimed. */
import type { Delivery } from './delivery.ts';
import { canStart, isSweepPending, isWaiting, type UnfinishedSweep } from './delivery-lifecycle.ts';
import { admit, type Gate, type GateTerms } from './gate.ts';
import type { Instant } from './instant.ts';

export type DispatchDecision =
  | { readonly kind: 'send'; readonly probe: boolean; readonly gate: Gate }
  /** Its next attempt is moved; see `domain/gate.ts` for what is reserved. */
  | { readonly kind: 'defer'; readonly until: Instant; readonly reserved: boolean; readonly gate: Gate }
  /** It ends without this attempt. */
  | { readonly kind: 'end'; readonly why: 'expired' | 'exhausted' }
  /** It was moved since it was seen. */
  | { readonly kind: 'not_yet'; readonly dueAt: Instant }
  /** Canceled, paused, claimed by another or finished since it was seen, or about to be swept. */
  | { readonly kind: 'gone' };

/** `sweep`: the order to its schedule that is still being carried out. */
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
  // One that would be too late by then is not made to wait for it.
  const { until, reserved } = admission;
  if (canStart(delivery, until) === 'expired') return { kind: 'end', why: 'expired' };
  return { kind: 'defer', until, reserved, gate: admission.gate };
}
