/**
 * Says in plain sentences why a delivery has its status and what comes next. The text has no instants, because they
 * are shown beside it in the reader's time zone.
 */
import type { Attempt, Delivery } from '#src/domain/delivery.ts';
import type { ScheduleState } from '#src/domain/schedule.ts';
import type { Wait } from '#src/domain/wait.ts';
import { attemptText, explainFailure } from './attempt-text.ts';
import { WAIT_SENTENCES } from './wait-text.ts';

export interface DeliveryCircumstances {
  /** The attempts, in their order. */
  readonly attempts: readonly Attempt[];
  readonly scheduleState: ScheduleState | null;
  /** Why it waits. Null if it does not. */
  readonly wait: Pick<Wait, 'reason'> | null;
}

type DescribedDelivery = Pick<
  Delivery,
  'status' | 'attemptCount' | 'retryPolicy' | 'dueAt' | 'deadline' | 'target' | 'scheduleId'
>;

const REPLAY = 'replay the delivery';
const REPLAY_REPEATS = 'A replay does not help, because it repeats the old request.';

export function deliveryText(
  delivery: DescribedDelivery,
  { attempts, scheduleState, wait }: DeliveryCircumstances,
): string {
  const { attemptCount, retryPolicy, target } = delivery;
  const last = attempts.at(-1) ?? null;
  const lastFailure = last === null || last.outcome === 'success' ? null : last;
  const whatFailed = lastFailure === null ? '' : attemptText(lastFailure, target.url);
  const why = wait === null ? '' : WAIT_SENTENCES[wait.reason];
  switch (delivery.status) {
    case 'scheduled':
      return why;
    case 'claimed':
      return `Attempt ${attemptCount} of ${retryPolicy.maxAttempts} is in flight.`;
    case 'retry_scheduled':
      return sentences(whatFailed, why === '' ? nextAttemptText(delivery, last) : why);
    case 'succeeded':
      return attemptCount === 1
        ? 'The first attempt succeeded.'
        : `Attempt ${attemptCount} of ${retryPolicy.maxAttempts} succeeded.`;
    case 'dead_letter':
      return sentences(deadLetterText(delivery, last), ...failureThenReplay(lastFailure, target.url));
    case 'expired':
      return sentences(
        attemptCount === 0
          ? 'The delivery expired: its deadline (ttl) passed before the first attempt.'
          : 'The delivery expired: the next attempt would have come after its deadline (ttl).',
        ...failureThenReplay(lastFailure, target.url),
        'A replay has a new deadline.',
      );
    case 'paused':
      return sentences(whatFailed, why);
    case 'canceled':
      return sentences(
        whatFailed,
        // A notification belongs to no schedule.
        delivery.scheduleId !== null && (scheduleState === 'canceled' || scheduleState === null)
          ? 'The delivery was canceled with its schedule and will not be sent.'
          : 'The delivery was canceled and will not be sent.',
      );
  }
}

function failureThenReplay(failed: Attempt | null, url: string): readonly string[] {
  if (failed === null) return [`${capitalized(REPLAY)}.`];
  const { cause, advice, isReplayUseless = false } = explainFailure(failed, url);
  if (isReplayUseless) return [cause, `${advice}.`, REPLAY_REPEATS];
  return [cause, advice === null ? `${capitalized(REPLAY)}.` : `${advice}, then ${REPLAY}.`];
}

function deadLetterText(
  { attemptCount, retryPolicy }: Pick<Delivery, 'attemptCount' | 'retryPolicy'>,
  last: Attempt | null,
): string {
  if (last?.outcome === 'terminal') return 'The attempt failed in a way that a retry cannot help.';
  if (attemptCount < retryPolicy.maxAttempts)
    return 'The retry budget of the endpoint allows no further attempt.';
  return attemptCount === 1 ? 'The only attempt failed.' : `All ${attemptCount} attempts failed.`;
}

function nextAttemptText(
  { attemptCount, retryPolicy, dueAt }: Pick<Delivery, 'attemptCount' | 'retryPolicy' | 'dueAt'>,
  last: Attempt | null,
): string {
  const next = `Attempt ${attemptCount + 1} of ${retryPolicy.maxAttempts} follows`;
  const endedAt = last?.finishedAt ?? null;
  if (dueAt === null || endedAt === null) return `${next}.`;
  return `${next} ${lengthText(Math.max(dueAt - endedAt, 0))} after attempt ${attemptCount} ended.`;
}

const UNITS = [
  { name: 'd', ms: 86_400_000 },
  { name: 'h', ms: 3_600_000 },
  { name: 'min', ms: 60_000 },
  { name: 's', ms: 1_000 },
] as const;

/** Returns `10 s` or `2 min 5 s`, with at most two units. */
function lengthText(ms: number): string {
  const seconds = Math.round(ms / 1_000) * 1_000;
  const first = UNITS.findIndex((unit) => seconds >= unit.ms);
  const [large, small] = first < 0 ? [] : UNITS.slice(first);
  if (large === undefined) return `${ms} ms`;
  const rest = small === undefined ? 0 : Math.floor((seconds % large.ms) / small.ms);
  const whole = `${Math.floor(seconds / large.ms)} ${large.name}`;
  return small === undefined || rest === 0 ? whole : `${whole} ${rest} ${small.name}`;
}

function capitalized(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}`;
}

function sentences(...parts: readonly string[]): string {
  return parts.filter((part) => part !== '').join(' ');
}
