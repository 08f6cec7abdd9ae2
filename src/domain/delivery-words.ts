/** Why a delivery is as it is and what comes next, for people. Free of instants, which are shown beside it in their zone. */
import type { Attempt, Delivery } from './delivery.ts';
import { tryWords } from './error-words.ts';
import type { ScheduleState } from './schedule.ts';

/** What is known besides of a delivery whose words are looked for. */
export interface DeliverySurroundings {
  /** The attempts, in their order. */
  readonly attempts: readonly Attempt[];
  readonly scheduleState: ScheduleState | null;
  /** Whether the breaker of its endpoint holds everything back. */
  readonly isDeferredByBreaker: boolean;
}

/** Of the delivery as a whole: why it is as it is, and what comes next. */
export function deliveryWords(
  delivery: Pick<
    Delivery,
    'status' | 'attemptCount' | 'retryPolicy' | 'dueAt' | 'deadline' | 'reserved' | 'target'
  >,
  { attempts, scheduleState, isDeferredByBreaker }: DeliverySurroundings,
): string {
  const { attemptCount, retryPolicy } = delivery;
  const { maxAttempts } = retryPolicy;
  const last = attempts.at(-1) ?? null;
  const lastWords = last === null || last.outcome === 'success' ? '' : tryWords(last, delivery.target.url);
  switch (delivery.status) {
    case 'scheduled':
      return sentence(
        'It waits for its instant.',
        isDeferredByBreaker ? DEFERRED_BY_BREAKER : reservedWords(delivery.reserved),
      );
    case 'claimed':
      return `It is being sent: attempt ${attemptCount} of ${maxAttempts}.`;
    case 'retry_scheduled':
      return sentence(
        lastWords,
        isDeferredByBreaker ? DEFERRED_BY_BREAKER : nextAttemptWords(delivery, last),
        isDeferredByBreaker ? '' : reservedWords(delivery.reserved),
      );
    case 'succeeded':
      return attemptCount === 1
        ? 'Delivered with the first attempt.'
        : `Delivered with attempt ${attemptCount} of ${maxAttempts}.`;
    case 'dead_letter':
      return sentence(deadWords(delivery, last), lastWords, 'It can be replayed once the cause is gone.');
    case 'expired':
      return sentence(
        attemptCount === 0
          ? 'It expired: it could not be tried before its deadline (the ttl of the schedule).'
          : 'It expired: the next attempt would have come after its deadline (the ttl of the schedule).',
        lastWords,
        'It can be replayed; the deadline is then counted anew.',
      );
    case 'paused':
      return sentence(lastWords, 'It waits because its schedule is paused. Resume the schedule to go on.');
    case 'canceled':
      return sentence(
        lastWords,
        scheduleState === 'canceled' || scheduleState === null
          ? 'It was canceled with its schedule and will not be sent.'
          : 'It was canceled and will not be sent.',
      );
  }
}

const DEFERRED_BY_BREAKER =
  'It waits because too many attempts to its endpoint failed in a row: the circuit breaker is open and lets one through when its window is over.';

function reservedWords(reserved: boolean): string {
  return reserved ? 'Its turn is reserved, at the pace of the rate limit or the retry budget.' : '';
}

function nextAttemptWords(
  { attemptCount, retryPolicy, dueAt }: Pick<Delivery, 'attemptCount' | 'retryPolicy' | 'dueAt'>,
  last: Attempt | null,
): string {
  const next = `Attempt ${attemptCount + 1} of ${retryPolicy.maxAttempts} follows`;
  const endedAt = last?.finishedAt ?? null;
  if (dueAt === null || endedAt === null) return `${next}.`;
  return `${next} ${lengthWords(Math.max(dueAt - endedAt, 0))} after the last one ended.`;
}

function deadWords(
  { attemptCount, retryPolicy }: Pick<Delivery, 'attemptCount' | 'retryPolicy'>,
  last: Attempt | null,
): string {
  if (last?.outcome === 'terminal')
    return 'It was given up at once, since another attempt could not go better.';
  const { maxAttempts } = retryPolicy;
  if (attemptCount >= maxAttempts)
    return maxAttempts === 1
      ? 'It was given up after the only attempt it had.'
      : `It was given up after all of its ${maxAttempts} attempts.`;
  return 'It was given up because the retry budget of its endpoint allows no further attempt.';
}

const LENGTHS = [
  { name: 'd', ms: 86_400_000 },
  { name: 'h', ms: 3_600_000 },
  { name: 'min', ms: 60_000 },
  { name: 's', ms: 1_000 },
] as const;

/** `10 s`, `2 min 5 s`: two units at most. */
function lengthWords(ms: number): string {
  const seconds = Math.round(ms / 1_000) * 1_000;
  const first = LENGTHS.findIndex((unit) => seconds >= unit.ms);
  const [large, small] = first < 0 ? [] : LENGTHS.slice(first);
  if (large === undefined) return `${ms} ms`;
  const rest = small === undefined ? 0 : Math.floor((seconds % large.ms) / small.ms);
  const whole = `${Math.floor(seconds / large.ms)} ${large.name}`;
  return small === undefined || rest === 0 ? whole : `${whole} ${rest} ${small.name}`;
}

function sentence(...parts: readonly string[]): string {
  return parts.filter((part) => part !== '').join(' ');
}
