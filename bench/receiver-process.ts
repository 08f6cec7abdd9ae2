/**
 * The receiver is a process of its own: an ordinary HTTPS server, as a customer would have one. It records how late
 * each request is, by the request's headers. A command says which path prefixes to expect, and how many different
 * requests at each. The receiver reports when the last one has arrived. Its records can be read at any time. A path
 * that begins with `/hang/` is never answered. An expectation may ask for other answers than 200.
 */
import { readFileSync } from 'node:fs';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';

export interface Expectation {
  /** The first part of the path, for example `/burst/`. */
  readonly path: string;
  readonly count: number;
  /** The default answers 200, and leaves the connection open. */
  readonly answers?: UnusualAnswers;
  /** True if requests have no number. They are counted in the order of their arrival, and are never late. */
  readonly isUnnumbered?: boolean;
}

/**
 * - `first with 500`: the first arrival of a request is answered with 500, and only its next arrival is recorded.
 * - `and close`: every answer closes the connection.
 * - `and redirect`: every answer is a redirect, which no attempt follows.
 */
export type UnusualAnswers = 'first with 500' | 'and close' | 'and redirect';

export interface Arrivals {
  /** The lateness of each request's first arrival, in milliseconds. */
  readonly latenessMs: readonly number[];
  /** The number of arrivals of requests that had arrived before. */
  readonly repeated: number;
  /** The instants of the first and the last arrival. Null if nothing arrived. */
  readonly firstAt: number | null;
  readonly lastAt: number | null;
  /** The largest number of arrivals within one second. */
  readonly busiestSecond: number;
}

/** `arrivals` asks for the arrivals at one expected path. */
export type ReceiverCommand =
  | { readonly kind: 'expect'; readonly expectations: readonly Expectation[] }
  | { readonly kind: 'arrivals'; readonly path: string };

export type ReceiverMessage =
  | { readonly kind: 'listens'; readonly url: string }
  | { readonly kind: 'complete'; readonly path: string }
  | { readonly kind: 'arrivals'; readonly path: string; readonly arrivals: Arrivals };

const CERTIFICATES = join(import.meta.dirname, '../test/certificates');
const KEEP_ALIVE_MS = 120_000;
const HANGING = '/hang/';
const MS_PER_SECOND = 1_000;
/** Each sample takes a millisecond. */
const CLOCK_SAMPLES = 8;

/** The arrivals of one expectation. Lateness is kept in an array by number, so that a request allocates nothing. */
class ArrivalRecorder {
  readonly answers: UnusualAnswers | undefined;
  readonly #path: string;
  readonly #isUnnumbered: boolean;
  readonly #lateness: Float64Array;
  readonly #arrivedAt: Float64Array;
  readonly #failed = new Set<number>();
  #arrived = 0;
  #repeated = 0;
  #firstAt: number | null = null;
  #lastAt: number | null = null;

  constructor({ path, count, answers, isUnnumbered = false }: Expectation) {
    this.answers = answers;
    this.#path = path;
    this.#isUnnumbered = isUnnumbered;
    this.#arrivedAt = new Float64Array(count);
    this.#lateness = new Float64Array(count).fill(Number.NaN);
  }

  /** Whether this arrival must be answered with 500. Such an arrival is not recorded. */
  mustFail(number: number): boolean {
    if (this.answers !== 'first with 500' || this.#failed.has(number)) return false;
    this.#failed.add(number);
    return true;
  }

  record(given: number, due: number, now: number): void {
    const number = this.#isUnnumbered ? this.#arrived : given;
    if (!(number < this.#lateness.length)) return;
    if (!Number.isNaN(this.#lateness[number])) {
      this.#repeated++;
      return;
    }
    this.#lateness[number] = this.#isUnnumbered ? 0 : now - due;
    this.#arrivedAt[this.#arrived] = now;
    this.#firstAt ??= now;
    this.#lastAt = now;
    this.#arrived++;
    if (this.#arrived === this.#lateness.length) send({ kind: 'complete', path: this.#path });
  }

  #busiestSecond(): number {
    const at = this.#arrivedAt.subarray(0, this.#arrived);
    let first = 0;
    let most = 0;
    for (const [last, instant] of at.entries()) {
      while ((at[first] ?? instant) <= instant - MS_PER_SECOND) first++;
      most = Math.max(most, last - first + 1);
    }
    return most;
  }

  arrivals(): Arrivals {
    const latenessMs = [...this.#lateness].filter((late) => !Number.isNaN(late));
    const busiestSecond = this.#busiestSecond();
    return {
      latenessMs,
      repeated: this.#repeated,
      firstAt: this.#firstAt,
      lastAt: this.#lastAt,
      busiestSecond,
    };
  }
}

let recorders = new Map<string, ArrivalRecorder>();

/** The wall clock and the monotonic clock drift apart within an hour, so the offset is measured again. */
let clockOffsetMs = wallClockOffsetMs();

/** The wall clock minus the monotonic clock. A sample that is interrupted is too small, never too large. */
function wallClockOffsetMs(): number {
  return Math.max(...Array.from({ length: CLOCK_SAMPLES }, offsetAtTickMs));
}

function offsetAtTickMs(): number {
  const before = Date.now();
  let now = before;
  while (now === before) now = Date.now();
  return now - performance.now();
}

function send(message: ReceiverMessage): void {
  process.send?.(message);
}

function pathPrefix(path: string): string {
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
    const prefix = pathPrefix(url);
    const recorder = recorders.get(prefix);
    const number = Number(headers['x-number']);
    if (recorder?.mustFail(number)) response.statusCode = 500;
    else recorder?.record(number, Number(headers['x-due']), now);
    if (recorder?.answers === 'and redirect') response.statusCode = 302;
    if (recorder?.answers === 'and close') response.setHeader('connection', 'close');
    request.resume();
    request.on('end', () => {
      if (prefix !== HANGING) response.end('ok');
    });
  },
);
server.listen(0, '127.0.0.1', () => {
  send({ kind: 'listens', url: `https://127.0.0.1:${(server.address() as AddressInfo).port}` });
});
process.on('message', (command: ReceiverCommand) => {
  if (command.kind === 'arrivals') {
    const arrivals = recorders.get(command.path)?.arrivals();
    if (arrivals !== undefined) send({ kind: 'arrivals', path: command.path, arrivals });
    return;
  }
  clockOffsetMs = wallClockOffsetMs();
  recorders = new Map(command.expectations.map((each) => [each.path, new ArrivalRecorder(each)]));
});
process.on('disconnect', () => process.exit(0));
