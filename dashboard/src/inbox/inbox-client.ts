/** The page's connection to the inbox: its stream, the details of arrivals, and commands. */
import { computed, signal } from '@preact/signals';
import type { AnswerKind, ArrivalDetails, InboxEvents } from '../../../src/inbox/contract.ts';
import { announce, toast } from '../components/toast.tsx';
import { BROWSER, EventStream, onWake, openSource } from '../event-stream.ts';
import { parseResponse } from '../model/parse-response.ts';
import { type InboxEvent, receive, select, UNCONNECTED } from './state.ts';
import { announcement, clock } from './texts.ts';

const INBOX = '/inbox';
/** The service runs on the same machine, and a developer restarts it often. */
const RECONNECT_MS_MAX = 1_000;

export const state = signal(UNCONNECTED);
export const selected = computed(() => {
  const { arrivals, selected: number } = state.value;
  return number === null ? null : (arrivals.get(number) ?? null);
});
/** Whether the next answer is set for one request only. */
export const isOnce = signal(false);
/** Whether the service refused this page because too many are open. */
export const isFull = signal(false);
/** When the sample request is due, until the next request arrives. */
export const sent = signal('');
/** Headers and bodies by the number of the arrival. They do not change. */
export const details = signal<ReadonlyMap<number, ArrivalDetails>>(new Map());

/** The id of the last event. The service sends what changed after it. */
let seen = '';

const stream = new EventStream({
  ...BROWSER,
  reconnectMsMax: RECONNECT_MS_MAX,
  connect: (listener) => {
    const on =
      <Name extends keyof InboxEvents>(name: Name) =>
      (text: string, id: string) => {
        seen = id;
        handle({ name, data: parseResponse(text) } as InboxEvent);
      };
    const handlers = {
      hello: on('hello'),
      arrival: on('arrival'),
      answer: on('answer'),
      cleared: on('cleared'),
      full: () => {
        isFull.value = true;
      },
    };
    return openSource(`${INBOX}/events?seen=${encodeURIComponent(seen)}`, handlers, listener);
  },
});

export const connection = stream.connection;

export function connect(): void {
  onWake(() => stream.wake());
  stream.open();
}

function handle(event: InboxEvent): void {
  const before = state.peek();
  state.value = receive(before, event);
  if (event.name === 'hello') isFull.value = false;
  if (event.name === 'hello' || event.name === 'answer') isOnce.value = event.data.answer.times !== null;
  if (event.name === 'arrival' && !before.arrivals.has(event.data.arrival.number)) {
    announce(announcement(event.data.arrival));
    sent.value = '';
  }
  // The numbers of another run begin at 1 again.
  const isNewRun = event.name === 'hello' && event.data.isNew;
  const kept = [...details.peek()].filter(([number]) => !isNewRun && number >= event.data.first);
  if (kept.length !== details.peek().size) details.value = new Map(kept);
}

export function show(number: number): void {
  state.value = select(state.peek(), number);
}

let isFetching = false;

/**
 * Fetches the details of the selected arrival, one at a time. If several are selected in the meantime, only the last is
 * fetched. The arrival may have been dropped when the answer is here, and then nothing is shown.
 */
export async function fetchDetails(): Promise<void> {
  const arrival = selected.peek();
  if (isFetching || arrival === null || details.peek().has(arrival.number)) return;
  const { number } = arrival;
  isFetching = true;
  const found = (await call(`${INBOX}/arrivals/${number}`)) as ArrivalDetails | null;
  isFetching = false;
  if (found !== null && state.peek().arrivals.get(number)?.at === arrival.at) {
    details.value = new Map(details.peek()).set(number, found);
  }
  if (selected.peek()?.number !== number) return fetchDetails();
}

export async function setAnswer(answer: AnswerKind): Promise<void> {
  const times = isOnce.peek() ? 1 : null;
  if ((await command(`${INBOX}/answer`, { answer, times })) !== null) return;
  // The page shows again what the service does.
  state.value = { ...state.peek() };
}

export function setOnce(isChecked: boolean): void {
  isOnce.value = isChecked;
  const { answer } = state.peek().mode;
  // A 200 for the next request only would change nothing, because 200 is the default.
  if (answer !== '200') void setAnswer(answer);
}

export async function clear(): Promise<void> {
  await command(`${INBOX}/clear`, {});
}

export async function sendSample(): Promise<void> {
  const { about } = state.peek();
  if (about === null) return;
  const { key, body } = about.sample;
  const schedule = await command('/v1/schedules', body, { authorization: `Bearer ${key}` });
  if (schedule === null) return;
  sent.value = `Due at ${clock(Date.parse((schedule as { readonly fire_at: string }).fire_at))}`;
}

async function command(
  path: string,
  body: object,
  headers: Readonly<Record<string, string>> = {},
): Promise<unknown> {
  const answer = await call(path, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });
  if (answer === null) toast('bad', 'That did not work, because the service does not answer. Try again.');
  return answer;
}

/** Returns null on failure. Then the service cannot be reached, and the page already shows that. */
async function call(path: string, options: RequestInit = {}): Promise<unknown> {
  try {
    const answer = await fetch(path, { cache: 'no-store', ...options });
    return answer.ok ? parseResponse(await answer.text()) : null;
  } catch {
    return null;
  }
}
