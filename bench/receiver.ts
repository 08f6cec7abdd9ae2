/**
 * The receiver, a process of its own: an ordinary HTTPS server, as a customer would have one, that notes how late
 * each request is, by its headers. It is told what to expect: requests whose path begins with this, so many
 * different ones. When the last has come it says so; it may be asked for its notes at any time. A path that
 * begins with `/hang/` is never answered.
 */
import { readFileSync } from 'node:fs';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';

export interface Expectation {
  /** The first part of the path, as `/burst/`. */
  readonly path: string;
  readonly count: number;
}

export interface Notes {
  /** By the first arrival of each, in milliseconds. */
  readonly latenessMs: readonly number[];
  /** Arrivals of what had arrived before. */
  readonly repeated: number;
  /** When the first and the last arrived; null where nothing did. */
  readonly firstAt: number | null;
  readonly lastAt: number | null;
}

/** `notes PATH` asks for the notes of one that is expected. */
export type ReceiverOrder =
  | { readonly kind: 'expect'; readonly expectations: readonly Expectation[] }
  | { readonly kind: 'notes'; readonly path: string };

export type ReceiverMessage =
  | { readonly kind: 'listens'; readonly url: string }
  | { readonly kind: 'complete'; readonly path: string }
  | { readonly kind: 'notes'; readonly path: string; readonly notes: Notes };

const CERTIFICATES = join(import.meta.dirname, '../test/certificates');
const KEEP_ALIVE_MS = 120_000;
const HANGING = '/hang/';
/** A millisecond each. */
const CLOCK_LOOKS = 8;

/** What has arrived of one expectation; by number, so that a request costs no memory. */
class Noted {
  readonly #path: string;
  readonly #lateness: Float64Array;
  #arrived = 0;
  #repeated = 0;
  #firstAt: number | null = null;
  #lastAt: number | null = null;

  constructor({ path, count }: Expectation) {
    this.#path = path;
    this.#lateness = new Float64Array(count).fill(Number.NaN);
  }

  note(number: number, due: number, now: number): void {
    if (!(number < this.#lateness.length)) return;
    if (!Number.isNaN(this.#lateness[number])) {
      this.#repeated++;
      return;
    }
    this.#lateness[number] = now - due;
    this.#firstAt ??= now;
    this.#lastAt = now;
    this.#arrived++;
    if (this.#arrived === this.#lateness.length) say({ kind: 'complete', path: this.#path });
  }

  notes(): Notes {
    const latenessMs = [...this.#lateness].filter((late) => !Number.isNaN(late));
    return { latenessMs, repeated: this.#repeated, firstAt: this.#firstAt, lastAt: this.#lastAt };
  }
}

let expected = new Map<string, Noted>();

/** The two clocks drift apart over an hour: what is late by less than a millisecond has to be told by one. */
let clockOffsetMs = wallClockOffsetMs();

/** What the fine clock lacks to the one of the wall. Who looks away meanwhile sees too little, never too much. */
function wallClockOffsetMs(): number {
  return Math.max(...Array.from({ length: CLOCK_LOOKS }, offsetAtTickMs));
}

function offsetAtTickMs(): number {
  const before = Date.now();
  let now = before;
  while (now === before) now = Date.now();
  return now - performance.now();
}

function say(message: ReceiverMessage): void {
  process.send?.(message);
}

function firstPart(path: string): string {
  return path.slice(0, path.indexOf('/', 1) + 1);
}

const server = createServer(
  {
    cert: readFileSync(join(CERTIFICATES, 'receiver.pem')),
    key: readFileSync(join(CERTIFICATES, 'receiver.key')),
    keepAliveTimeout: KEEP_ALIVE_MS,
  },
  (request, response) => {
    const now = clockOffsetMs + performance.now();
    const { url = '', headers } = request;
    const part = firstPart(url);
    expected.get(part)?.note(Number(headers['x-number']), Number(headers['x-due']), now);
    request.resume();
    request.on('end', () => {
      if (part !== HANGING) response.end('ok');
    });
  },
);
server.listen(0, '127.0.0.1', () => {
  say({ kind: 'listens', url: `https://127.0.0.1:${(server.address() as AddressInfo).port}` });
});
process.on('message', (order: ReceiverOrder) => {
  if (order.kind === 'notes') {
    const notes = expected.get(order.path)?.notes();
    if (notes !== undefined) say({ kind: 'notes', path: order.path, notes });
    return;
  }
  clockOffsetMs = wallClockOffsetMs();
  expected = new Map(order.expectations.map((each) => [each.path, new Noted(each)]));
});
process.on('disconnect', () => process.exit(0));
