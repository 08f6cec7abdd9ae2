/** Reads the event stream of the inbox without a browser. */
import { get, type IncomingMessage } from 'node:http';
import type { presentSummary } from '#src/inbox/present.ts';

export type Summary = ReturnType<typeof presentSummary>;

export interface ReceivedEvent {
  readonly id: string;
  readonly name: string;
  readonly data: {
    readonly first: number;
    readonly arrival?: Summary;
    readonly answer?: { readonly answer: string; readonly times: number | null };
    readonly isNew?: boolean;
    readonly curl?: string;
  };
}

export interface EventStream extends Disposable {
  readonly answer: IncomingMessage;
  /** All events so far. */
  readonly events: readonly ReceivedEvent[];
  /** Resolves when the service ends it. */
  readonly ended: Promise<void>;
  /** Resolves to the first event that matches, past or future. */
  find(matches: (event: ReceivedEvent) => boolean): Promise<ReceivedEvent>;
  /** Resolves to the arrival at this path when it matches. */
  arrival(path: string, matches?: (summary: Summary) => boolean): Promise<Summary>;
}

const WAIT_MS_MAX = 60_000;

export interface StreamOptions {
  readonly headers?: Readonly<Record<string, string>>;
  /** The id of the last event, as a page sends it when it opens a new stream. */
  readonly seen?: string;
}

export function openStream(
  url: string,
  { headers = {}, seen = '' }: StreamOptions = {},
): Promise<EventStream> {
  return new Promise((resolve, reject) => {
    const request = get(`${url}/inbox/events?seen=${encodeURIComponent(seen)}`, { headers }, (answer) =>
      resolve(streamOf(answer)),
    );
    request.on('error', reject);
  });
}

function streamOf(answer: IncomingMessage): EventStream {
  const events: ReceivedEvent[] = [];
  const waiting = new Set<() => void>();
  let text = '';
  answer.setEncoding('utf8').on('data', (chunk: string) => {
    const blocks = (text + chunk).split('\n\n');
    text = blocks.pop() ?? '';
    for (const block of blocks) {
      const event = eventOf(block);
      if (event !== null) events.push(event);
    }
    for (const check of waiting) check();
  });
  // The test or the end of the service closes the connection.
  answer.on('error', () => {});
  const ended = new Promise<void>((resolve) => answer.once('close', resolve));
  const find = (matches: (event: ReceivedEvent) => boolean) =>
    new Promise<ReceivedEvent>((resolve, reject) => {
      const stop = () => {
        clearTimeout(timer);
        waiting.delete(check);
      };
      const check = () => {
        const found = events.find(matches);
        if (found === undefined) return;
        stop();
        resolve(found);
      };
      const timer = setTimeout(() => {
        stop();
        reject(
          new Error(`No event matched ${String(matches)}\n${JSON.stringify(events.slice(-5), null, 1)}`),
        );
      }, WAIT_MS_MAX);
      waiting.add(check);
      check();
    });
  return {
    answer,
    events,
    ended,
    find,
    async arrival(path, matches = () => true) {
      const { data } = await find(
        ({ data: { arrival } }) =>
          arrival !== undefined && arrival.target.split('?')[0] === path && matches(arrival),
      );
      if (data.arrival === undefined) throw new Error('The event has no arrival.');
      return data.arrival;
    },
    [Symbol.dispose]: () => answer.destroy(),
  };
}

/** Returns null for a comment. */
function eventOf(block: string): ReceivedEvent | null {
  const fields = new Map(
    block.split('\n').map((line) => {
      const at = line.indexOf(':');
      return [line.slice(0, at), line.slice(at + 2)] as const;
    }),
  );
  const data = fields.get('data');
  if (data === undefined) return null;
  return { id: fields.get('id') ?? '', name: fields.get('event') ?? '', data: JSON.parse(data) };
}
