/** One line for everything that becomes of a delivery, for the terminal of `sched dev`. */
import type { Attempt, Delivery } from '#src/domain/delivery.ts';
import type { Instant } from '#src/domain/instant.ts';
import type { Happening } from '#src/inbox/happening.ts';

/** Colours the text where that is wanted. */
export type Paint = (colour: 'green' | 'red' | 'yellow' | 'cyan' | 'dim', text: string) => string;

const TIME_CHARACTERS = 12;
const MS_PER_SECOND = 1_000;

/** Null for what needs no line. */
export function lineOf(happening: Happening, now: Instant, paint: Paint): string | null {
  switch (happening.kind) {
    case 'settled':
      return line(happening.delivery, triedWords(happening.attempt, paint), now, paint);
    case 'deferred':
      return line(happening.delivery, [paint('yellow', 'deferred by breaker, budget or rate')], now, paint);
    case 'ended':
      return line(happening.delivery, [paint('red', 'not sent')], now, paint);
    case 'claimed':
    case 'edited':
      return null;
  }
}

function line(delivery: Delivery, what: readonly string[], now: Instant, paint: Paint): string {
  const { method, url } = delivery.target;
  const words = [
    paint('dim', timeOf(now)),
    `${method} ${endpointRefKey(url)}`,
    ...what,
    nextWords(delivery, now, paint),
  ];
  return `${words.join('  ')}\n`;
}

function triedWords(attempt: Attempt, paint: Paint): readonly string[] {
  const { outcome, statusCode, error, attemptNo, firedAt, dueAt } = attempt;
  const result = String(statusCode ?? error ?? outcome);
  return [
    paint(outcome === 'success' ? 'green' : 'red', result),
    `attempt ${attemptNo}`,
    paint('dim', `${firedAt - dueAt} ms late`),
  ];
}

function nextWords({ status, dueAt }: Delivery, now: Instant, paint: Paint): string {
  if (dueAt !== null && status !== 'paused') {
    return `next in ${secondsOf(Math.max(dueAt - now, 0))} (${timeOf(dueAt)})`;
  }
  return paint(status === 'succeeded' ? 'green' : 'red', status);
}

/** Without the query, which may hold what is secret. */
function endpointRefKey(text: string): string {
  const url = URL.parse(text);
  return url === null ? '' : `${url.host}${url.pathname}`;
}

function secondsOf(ms: number): string {
  return `${(ms / MS_PER_SECOND).toFixed(1)} s`;
}

/** The wall clock of whoever looks at the terminal. */
function timeOf(at: Instant): string {
  const local = new Date(at - new Date(at).getTimezoneOffset() * 60_000);
  return local.toISOString().slice('YYYY-MM-DDT'.length).slice(0, TIME_CHARACTERS);
}
