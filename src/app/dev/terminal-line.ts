/** Writes one line for each change of a delivery to the terminal of `sched dev`. */
import type { Attempt, Delivery } from '#src/domain/delivery.ts';
import type { Instant } from '#src/domain/instant.ts';
import type { DeliveryEvent } from '#src/inbox/recent-deliveries.ts';

/** Adds the colour if the terminal shows colours. */
export type Paint = (colour: 'green' | 'red' | 'yellow' | 'cyan' | 'dim', text: string) => string;

const TIME_CHARACTERS = 12;
const MS_PER_SECOND = 1_000;

/** Returns null for an event that needs no line. */
export function lineOf(event: DeliveryEvent, now: Instant, paint: Paint): string | null {
  switch (event.kind) {
    case 'settled':
      return line(event.delivery, attemptTexts(event.attempt, paint), now, paint);
    case 'deferred':
      return line(event.delivery, [paint('yellow', 'deferred by breaker, budget or rate')], now, paint);
    case 'ended':
      return line(event.delivery, [paint('red', 'not sent')], now, paint);
    case 'claimed':
    case 'edited':
      return null;
  }
}

function line(delivery: Delivery, what: readonly string[], now: Instant, paint: Paint): string {
  const { method, url } = delivery.target;
  const texts = [
    paint('dim', timeOf(now)),
    `${method} ${withoutQuery(url)}`,
    ...what,
    nextText(delivery, now, paint),
  ];
  return `${texts.join('  ')}\n`;
}

function attemptTexts(attempt: Attempt, paint: Paint): readonly string[] {
  const { outcome, statusCode, error, attemptNo, firedAt, dueAt } = attempt;
  const result = String(statusCode ?? error ?? outcome);
  return [
    paint(outcome === 'success' ? 'green' : 'red', result),
    `attempt ${attemptNo}`,
    paint('dim', `started ${firedAt - dueAt} ms late`),
  ];
}

function nextText({ status, dueAt }: Delivery, now: Instant, paint: Paint): string {
  if (dueAt !== null && status !== 'paused') {
    return `next in ${secondsOf(Math.max(dueAt - now, 0))} (${timeOf(dueAt)})`;
  }
  return paint(status === 'succeeded' ? 'green' : 'red', status);
}

/** The query may hold a secret. */
function withoutQuery(text: string): string {
  const url = URL.parse(text);
  return url === null ? '' : `${url.host}${url.pathname}`;
}

function secondsOf(ms: number): string {
  return `${(ms / MS_PER_SECOND).toFixed(1)} s`;
}

/** Uses the local time zone, which is that of the person at the terminal. */
function timeOf(at: Instant): string {
  const local = new Date(at - new Date(at).getTimezoneOffset() * 60_000);
  return local.toISOString().slice('YYYY-MM-DDT'.length).slice(0, TIME_CHARACTERS);
}
