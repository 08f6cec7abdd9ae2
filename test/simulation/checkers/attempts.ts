/**
 * Every attempt has a row. Rows are numbered without gaps, and only the last row of a claimed delivery is
 * open. No attempt begins too early, after the deadline or beyond the number allowed. None begins for a
 * delivery that was canceled, paused or finished before.
 */
import type { Attempt, Delivery } from '#src/domain/delivery.ts';
import type { DeliveryId, ScheduleId } from '#src/domain/id.ts';
import { isWaitingStatus, sameAttempt } from '../observer.ts';
import { type Checker, type DeliveryChange, Violation } from './checker.ts';
import type { SimulationView } from './simulation-view.ts';
import { isTriggered } from './triggers.ts';

const NAME = 'attempts';
const PUNCTUAL_MS = 300;

export function attemptsChecker(simulation: SimulationView): Checker {
  const checkClaim = (before: Delivery, after: Delivery, attempt: Attempt) => {
    const violation = (what: string) =>
      new Violation(NAME, `${after.id} attempt ${attempt.attemptNo} ${what}`);
    if (!isWaitingStatus(before.status)) throw violation(`began while ${before.status}`);
    if (before.dueAt === null || attempt.dueAt !== before.dueAt)
      throw violation('was due at another instant');
    if (attempt.firedAt < attempt.dueAt) throw violation(`began ${attempt.dueAt - attempt.firedAt} ms early`);
    const { maxAttempts } = before.retryPolicy;
    if (attempt.attemptNo > maxAttempts) throw violation(`is beyond the ${maxAttempts} allowed`);
    const { deadline } = before;
    const isPunctual = before.attemptCount === 0 && attempt.firedAt <= before.scheduledFor + PUNCTUAL_MS;
    if (deadline !== null && attempt.firedAt > deadline && !isPunctual)
      throw violation('began after the deadline');

    if (after.notificationOf !== null) return;
    const schedule = simulation.observer.scheduleOf(after);
    if (schedule === null) throw violation('belongs to no schedule');
    const isHeld = schedule.state === 'paused' || schedule.state === 'canceled';
    // A pause or cancel does not apply to a replay or a trigger that was made after it.
    const isBeside = before.replayOf !== null || isTriggered(before);
    const isLater = isBeside && (createdMs.get(before.id) ?? 0) >= (heldMs.get(schedule.id) ?? 0);
    if (isHeld && !isLater) throw violation(`began while its schedule was ${schedule.state}`);
  };
  const createdMs = new Map<DeliveryId, number>();
  /** When a schedule was last paused or canceled. */
  const heldMs = new Map<ScheduleId, number>();

  return {
    name: NAME,
    schedule(before, after) {
      if (after !== null && before?.state !== after.state) heldMs.set(after.id, simulation.time.elapsedMs);
    },
    delivery(change) {
      const { before, after, attempts } = change;
      if (after === null) return;
      if (before === null) createdMs.set(after.id, simulation.time.elapsedMs);
      checkRows(change, after);
      const last = attempts.at(-1);
      if (after.status === 'claimed' && before?.status !== 'claimed' && before !== null && last) {
        checkClaim(before, after, last);
      }
    },
  };
}

function checkRows({ attemptsBefore, attempts }: DeliveryChange, after: Delivery): void {
  const violation = (what: string) => new Violation(NAME, `${after.id} ${what}`);
  if (attempts.length !== after.attemptCount) {
    throw violation(`counts ${after.attemptCount} attempts and has ${attempts.length} rows`);
  }
  for (const [at, attempt] of attempts.entries()) {
    if (attempt.attemptNo !== at + 1) throw violation(`has attempt ${attempt.attemptNo} in place ${at + 1}`);
    const isLast = at === attempts.length - 1;
    const isOpen = attempt.finishedAt === null;
    if (isOpen !== (isLast && after.status === 'claimed')) {
      throw violation(`is ${after.status}, its attempt ${attempt.attemptNo} ${isOpen ? 'open' : 'closed'}`);
    }
  }
  for (const attempt of attemptsBefore) {
    const now = attempts[attempt.attemptNo - 1];
    if (attempt.finishedAt !== null && !sameAttempt(attempt, now)) {
      throw violation(`had its finished attempt ${attempt.attemptNo} changed`);
    }
    if (now !== undefined && now.id !== attempt.id) throw violation('had a row of an attempt replaced');
  }
}
