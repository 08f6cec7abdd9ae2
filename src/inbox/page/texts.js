/** The texts that the page shows for an arrival. */

const CLOCK = new Intl.DateTimeFormat(undefined, {
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
  fractionalSecondDigits: 3,
  hourCycle: 'h23',
});

const MS_PER_SECOND = 1000;
const KIB = 1024;

export function clock(ms) {
  return CLOCK.format(new Date(ms));
}

function span(ms) {
  return ms < MS_PER_SECOND ? `${ms} ms` : `${(ms / MS_PER_SECOND).toFixed(1)} s`;
}

/** How late it arrived. The terminal shows how late the attempt started. Null if another service sent the request. */
export function lateness({ delivery }) {
  if (delivery === null || delivery.lateness_ms === null) return null;
  return `${span(Math.max(delivery.lateness_ms, 0))} late`;
}

export function size(bytes) {
  if (bytes < KIB) return `${bytes} ${bytes === 1 ? 'byte' : 'bytes'}`;
  return `${(bytes / KIB).toFixed(1)} KiB`;
}

export function signature({ signature }) {
  return signature.verified ? 'Signature verified' : 'Not verified';
}

/** The text is short enough for a badge. */
export function answer({ answered }) {
  if (answered.kind === 'answered') return String(answered.status);
  return answered.kind === 'hangs' ? 'hangs' : 'closed';
}

export function answerSentence({ answered }) {
  if (answered.kind === 'answered') return `Answered ${answered.status}.`;
  if (answered.kind === 'hangs')
    return 'No answer yet. The request hangs until you choose another answer or the sender closes the connection.';
  return `The sender closed the connection after ${span(answered.afterMs)}.`;
}

/** Selects the colour of the badge. */
export function tone({ answered }) {
  if (answered.kind !== 'answered') return 'pending';
  if (answered.status < 300) return 'success';
  return answered.status < 400 ? 'redirect' : 'error';
}

const STATUS_TEXTS = {
  scheduled: 'Scheduled',
  claimed: 'Claimed',
  retry_scheduled: 'Retry scheduled',
  succeeded: 'Succeeded',
  dead_letter: 'Dead letter',
  expired: 'Expired',
  paused: 'Paused',
  canceled: 'Canceled',
};

/** Whether its delivery has a later attempt. */
export function isFollowed({ delivery }) {
  const now = delivery?.now ?? null;
  return now !== null && delivery.attempt < now.attempt_count;
}

/**
 * Tells what followed the attempt: the next attempt, or the present status of its delivery after the newest one. Null if
 * another service sent the request.
 */
export function deliveryStatus(arrival) {
  const { delivery } = arrival;
  const now = delivery?.now ?? null;
  if (now === null) return null;
  if (isFollowed(arrival)) return `Attempt ${delivery.attempt + 1} followed`;
  const text = STATUS_TEXTS[now.status] ?? now.status;
  if (now.next_at !== null) return `${text} for ${clock(now.next_at)}`;
  return now.error === null || now.status === 'succeeded' ? text : `${text}: ${now.error}`;
}

export function answerMode({ answer, times }) {
  const what = {
    200: 'answered 200',
    500: 'answered 500',
    hang: 'left hanging',
    redirect: 'redirected (302)',
  }[answer];
  if (times === null) return `Every request is ${what}.`;
  return `${times === 1 ? 'The next request is' : `The next ${times} requests are`} ${what}, then 200 again.`;
}

/** The text for screen readers when a request arrives. */
export function announcement(arrival) {
  const parts = [
    `${arrival.method} ${arrival.target} arrived`,
    lateness(arrival),
    signature(arrival).toLowerCase(),
    answerSentence(arrival),
  ];
  return parts.filter((part) => part !== null).join(', ');
}
