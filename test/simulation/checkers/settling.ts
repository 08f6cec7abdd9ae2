/**
 * An attempt ends as it ended on the network, and its delivery continues as specified. The next attempt comes
 * exactly one backoff after the end of this one. None comes after the deadline, beyond the number allowed or
 * after a cancel. A delivery that ends without an attempt has a reason.
 */
import type { Attempt, Delivery, DeliveryStatus } from '#src/domain/delivery.ts';
import { ms } from '../durations.ts';
import type { SentRequest } from '../network.ts';
import { isWaitingStatus } from '../observer.ts';
import { type Checker, Violation } from './checker.ts';
import type { SimulationView } from './simulation-view.ts';

const NAME = 'settling';
const PUNCTUAL_MS = 300;
const TIMER_LATE_MS = 100;

export function settlingChecker(simulation: SimulationView): Checker {
  const { observer } = simulation;
  /** When each attempt was claimed, by attempt id. */
  const claims = new Map<string, number>();
  const claimedMs = (attempt: string): number => claims.get(attempt) ?? 0;

  /** Checks the row of an attempt that has ended. */
  const checkOutcome = (before: Delivery, attempt: Attempt): void => {
    const sent = observer.sentOf(before.id, attempt.attemptNo);
    const violation = (what: string) =>
      new Violation(NAME, `${before.id} attempt ${attempt.attemptNo} (${describeAttempt(attempt)}) ${what}`);
    if (attempt.error === 'interrupted') {
      if (attempt.outcome !== 'retryable' || attempt.statusCode !== null)
        throw violation('is not an interruption');
      const instance = simulation.findInstance(before.claim?.node);
      const mayGiveUp = instance?.state === 'stopping' && simulation.writer === instance.node;
      const isAtWork = instance !== null && !mayGiveUp && instance.leaseInvalidMs < claimedMs(attempt.id);
      if (isAtWork && !simulation.isLostClaim(attempt.id))
        throw violation('was interrupted without a reason');
      return;
    }
    if (sent === null) {
      if (attempt.outcome === 'success') throw violation('succeeded without being sent');
      if (attempt.error === 'internal error' && simulation.disturbedMs >= 0) return;
      if (!/^(?:forbidden )?header /.test(attempt.error ?? '') || attempt.outcome !== 'terminal')
        throw violation('was never sent');
      return;
    }
    if (sent.node !== simulation.writer) throw violation('was settled by another process than sent it');
    // It is not known when a process that crashed in the meantime learned of the end.
    const instance = simulation.findInstance(sent.node);
    const wasPaused = instance === null || instance.resumedMs > sent.elapsedMs;
    const expected = expectedOf(sent, observer.timeoutMsOf(before.id), wasPaused);
    if (expected === null) throw violation('was not aborted exactly at its timeout');
    if (attempt.outcome !== expected.outcome || attempt.statusCode !== expected.statusCode) {
      throw violation(`should be ${expected.outcome} ${expected.statusCode}`);
    }
    if (attempt.finishedAt !== sent.endedAt) throw violation(`ended at ${sent.endedAt} for the network`);
  };

  const checkNextStatus = (before: Delivery, after: Delivery, attempt: Attempt): void => {
    const schedule = observer.scheduleOf(after);
    const finishedAt = attempt.finishedAt ?? 0;
    const { maxAttempts, base, factor, max } = before.retryPolicy;
    const retryAt = finishedAt + Math.floor(Math.min(ms(max), ms(base) * factor ** attempt.attemptNo));
    const isCanceled =
      schedule?.state === 'canceled' &&
      (before.replayOf === null || (schedule.endedAt ?? 0) >= before.createdAt);
    const expected = ((): DeliveryStatus => {
      if (attempt.outcome === 'success') return 'succeeded';
      if (attempt.outcome === 'terminal' || attempt.attemptNo >= maxAttempts) return 'dead_letter';
      if (isCanceled) return 'canceled';
      if (before.deadline !== null && retryAt > before.deadline) return 'expired';
      return schedule?.state === 'paused' ? 'paused' : 'retry_scheduled';
    })();
    const violation = (what: string) =>
      new Violation(NAME, `${after.id} after attempt ${attempt.attemptNo} ${what}`);
    if (after.status !== expected) throw violation(`is ${after.status}, not ${expected}`);
    if (after.dueAt !== null && after.dueAt !== retryAt) {
      throw violation(`is due ${after.dueAt - finishedAt} ms later, not ${retryAt - finishedAt}`);
    }
  };

  /** Checks a delivery that ended without an attempt. */
  const checkUnsent = (before: Delivery, after: Delivery): void => {
    const violation = (what: string) => new Violation(NAME, `${after.id} ended ${after.status} ${what}`);
    const { deadline, attemptCount, scheduledFor } = before;
    const endedAt = after.finalizedAt ?? 0;
    const schedule = observer.scheduleOf(after);
    const profile = observer.profileOf(before);
    if (after.status === 'dead_letter') {
      const isExhausted = attemptCount >= before.retryPolicy.maxAttempts;
      const hasNoBudget = attemptCount > 0 && profile !== null && profile?.retryBudget?.rate === 0;
      if (!isExhausted && !hasNoBudget) throw violation('without a reason');
      return;
    }
    if (deadline === null) throw violation('without a deadline');
    const isPunctual = attemptCount === 0 && endedAt <= scheduledFor + PUNCTUAL_MS;
    const mayBeGated = before.status !== 'paused' && (attemptCount > 0 || schedule?.rateLimit !== null);
    if (endedAt > deadline && !isPunctual) return;
    if (mayBeGated || endedByGate.has(after.id)) return;
    throw violation(`${deadline - endedAt} ms before its deadline`);
  };
  /**
   * Deliveries that ended because the breaker would not let them through in time. The breaker checker judges
   * them.
   */
  const endedByGate = new Set<string>();

  return {
    name: NAME,
    endRequested({ delivery }) {
      endedByGate.add(delivery.id);
    },
    deferRequested({ id, dueAt, deadline, attemptCount, scheduledFor }, by) {
      // A delivery that is released early ends at once.
      if (dueAt === null || deadline === null || dueAt <= Math.max(deadline, by.now())) return;
      if (attemptCount === 0 && dueAt <= scheduledFor + PUNCTUAL_MS) return;
      throw new Violation(NAME, `${id} was deferred past its deadline`);
    },
    delivery({ before, after, attempts }) {
      if (before === null || after === null) return;
      const last = attempts.at(-1);
      if (after.status === 'claimed' && last !== undefined) claims.set(last.id, simulation.time.elapsedMs);
      if (before.status === 'claimed' && last !== undefined) {
        checkOutcome(before, last);
        checkNextStatus(before, after, last);
      } else if (after.status === 'expired' || after.status === 'dead_letter') {
        checkUnsent(before, after);
      } else if (isWaitingStatus(before.status) && isWaitingStatus(after.status)) {
        if (before.status !== after.status) throw new Violation(NAME, `${after.id} changed its waiting`);
      }
    },
  };
}

/** `wasPaused` means that the sender may have learned of the end late. */
function expectedOf(
  sent: SentRequest,
  timeoutMs: number,
  wasPaused: boolean,
): Pick<Attempt, 'outcome' | 'statusCode'> | null {
  const { outcome } = sent;
  if (outcome === null || outcome.kind === 'orphaned') return null;
  const lasted = (sent.endedMs ?? 0) - sent.elapsedMs;
  if (lasted > timeoutMs + TIMER_LATE_MS && !wasPaused) return null;
  if (outcome.kind === 'aborted') {
    return lasted >= timeoutMs ? { outcome: 'retryable', statusCode: null } : null;
  }
  const { result } = outcome;
  if (result.kind === 'failed') {
    const isBlocked = result.failure === 'address_not_allowed';
    return { outcome: isBlocked ? 'terminal' : 'retryable', statusCode: null };
  }
  const { statusCode } = result;
  if (statusCode < 300) return { outcome: 'success', statusCode };
  return { outcome: statusCode < 400 ? 'terminal' : 'retryable', statusCode };
}

function describeAttempt({ outcome, statusCode, error }: Attempt): string {
  return `${outcome} ${statusCode} ${error}`;
}
