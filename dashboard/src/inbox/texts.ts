/** The texts that the inbox page shows for an arrival. */
import { computed } from '@preact/signals';
import type { AnswerKind, AnswerMode, ArrivalSummary } from '../../../src/inbox/contract.ts';
import { DELIVERY_BADGES, type Tone } from '../components/badge.tsx';
import type { IconName } from '../components/icon.tsx';
import { formatMs } from '../format.ts';
import { displayZone } from '../time.ts';

/** Arrivals are of today, so the time is enough. Milliseconds show how late a request was. */
const formatter = computed(
  () =>
    new Intl.DateTimeFormat('en-GB', {
      hour: '2-digit',
      minute: '2-digit',
      second: '2-digit',
      fractionalSecondDigits: 3,
      hourCycle: 'h23',
      timeZone: displayZone.value,
    }),
);

export function clock(ms: number): string {
  return formatter.value.format(ms);
}

/** How late it arrived. The terminal shows how late the attempt started. Null if another service sent the request. */
export function lateness({ delivery }: ArrivalSummary): string | null {
  if (delivery === null || delivery.lateness_ms === null) return null;
  return `${formatMs(Math.max(delivery.lateness_ms, 0))} late`;
}

export function signatureText({ signature }: ArrivalSummary): string {
  return signature.verified ? 'Signature verified' : 'Not verified';
}

export interface AnswerBadge {
  readonly tone: Tone;
  readonly icon: IconName;
  readonly label: string;
}

export function answerBadge({ answered }: ArrivalSummary): AnswerBadge {
  if (answered.kind === 'hangs') return { tone: 'warn', icon: 'hourglass', label: 'hangs' };
  if (answered.kind === 'gave_up') return { tone: 'warn', icon: 'stop', label: 'closed' };
  const label = String(answered.status);
  if (answered.status < 300) return { tone: 'good', icon: 'check', label };
  return answered.status < 400
    ? { tone: 'neutral', icon: 'right', label }
    : { tone: 'bad', icon: 'cross', label };
}

export function answerSentence({ answered }: ArrivalSummary): string {
  if (answered.kind === 'answered') return `Answered ${answered.status}.`;
  if (answered.kind === 'hangs')
    return 'No answer yet. The request hangs until you choose another answer or the sender closes the connection.';
  return `The sender closed the connection after ${formatMs(answered.afterMs)}.`;
}

/** Whether its delivery has a later attempt. */
export function isFollowed({ delivery }: ArrivalSummary): boolean {
  const now = delivery?.now ?? null;
  return delivery !== null && now !== null && delivery.attempt < now.attempt_count;
}

/**
 * Tells what followed the attempt: the next attempt, or the present status of its delivery after the newest one. Null if
 * another service sent the request.
 */
export function deliveryStatus(arrival: ArrivalSummary): string | null {
  const { delivery } = arrival;
  const now = delivery?.now ?? null;
  if (delivery === null || now === null) return null;
  if (isFollowed(arrival)) return `Attempt ${delivery.attempt + 1} followed`;
  const text = DELIVERY_BADGES[now.status]?.label ?? now.status;
  if (now.next_at !== null) return `${text} for ${clock(now.next_at)}`;
  return now.error === null || now.status === 'succeeded' ? text : `${text}: ${now.error}`;
}

const ANSWERED: Readonly<Record<AnswerKind, string>> = {
  200: 'answered 200',
  500: 'answered 500',
  hang: 'left hanging',
  redirect: 'redirected (302)',
};

export function answerModeText({ answer, times }: AnswerMode): string {
  const what = ANSWERED[answer];
  if (times === null) return `Every request is ${what}.`;
  return `${times === 1 ? 'The next request is' : `The next ${times} requests are`} ${what}, then 200 again.`;
}

/** The text for screen readers when a request arrives. */
export function announcement(arrival: ArrivalSummary): string {
  const parts = [
    `${arrival.method} ${arrival.target} arrived`,
    lateness(arrival),
    signatureText(arrival).toLowerCase(),
    answerSentence(arrival),
  ];
  return parts.filter((part) => part !== null).join(', ');
}
