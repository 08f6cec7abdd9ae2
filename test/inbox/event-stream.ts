/** The stream of an inbox page, read without a browser. */
import { get, type IncomingMessage } from 'node:http';
import type { presentLine } from '#src/inbox/present.ts';

export type Line = ReturnType<typeof presentLine>;

export interface Told {
  readonly id: string;
  readonly name: string;
  readonly data: {
    readonly first: number;
    readonly arrival?: Line;
    readonly answer?: { readonly answer: string; readonly times: number | null };
    readonly isNew?: boolean;
    readonly curl?: string;
  };
}

export interface EventStream extends Disposable {
  readonly answer: IncomingMessage;
  /** Everything so far. */
  readonly told: readonly Told[];
  /** Resolves when the service ends it. */
  readonly ended: Promise<void>;
  /** The first that is so, told already or to come. */
  find(isSo: (told: Told) => boolean): Promise<Told>;
  /** The arrival at this path, once it is as asked for. */
  arrival(path: string, isSo?: (line: Line) => boolean): Promise<Line>;
}

const WAIT_MS_MAX = 15_000;

export interface StreamOptions {
  readonly headers?: Readonly<Record<string, string>>;
  /** The id of the last event, as a page says it that opens a stream anew. */
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
  const told: Told[] = [];
  const waiting = new Set<() => void>();
  let text = '';
  answer.setEncoding('utf8').on('data', (chunk: string) => {
    const blocks = (text + chunk).split('\n\n');
    text = blocks.pop() ?? '';
    for (const block of blocks) {
      const event = eventOf(block);
      if (event !== null) told.push(event);
    }
    for (const look of waiting) look();
  });
  // Cut off by the test, or by the end of the service.
  answer.on('error', () => {});
  const ended = new Promise<void>((resolve) => answer.once('close', resolve));
  const find = (isSo: (told: Told) => boolean) =>
    new Promise<Told>((resolve, reject) => {
      const stop = () => {
        clearTimeout(timer);
        waiting.delete(look);
      };
      const look = () => {
        const found = told.find(isSo);
        if (found === undefined) return;
        stop();
        resolve(found);
      };
      const timer = setTimeout(() => {
        stop();
        reject(new Error(`It was never so: ${String(isSo)}\n${JSON.stringify(told.slice(-5), null, 1)}`));
      }, WAIT_MS_MAX);
      waiting.add(look);
      look();
    });
  return {
    answer,
    told,
    ended,
    find,
    async arrival(path, isSo = () => true) {
      const { data } = await find(
        ({ data: { arrival } }) =>
          arrival !== undefined && arrival.target.split('?')[0] === path && isSo(arrival),
      );
      if (data.arrival === undefined) throw new Error('No arrival.');
      return data.arrival;
    },
    [Symbol.dispose]: () => answer.destroy(),
  };
}

/** Null for a comment. */
function eventOf(block: string): Told | null {
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
