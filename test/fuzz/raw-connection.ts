/**
 * A small HTTP client that sends any bytes and reads the one answer to them. It keeps its connection until
 * the service closes it.
 */
import { connect, type Socket } from 'node:net';

const ANSWER_MS_MAX = 10_000;

export interface Answer {
  readonly status: number;
  readonly headers: ReadonlyMap<string, string>;
  readonly body: Buffer;
  readonly ms: number;
}

export type Outcome =
  | { readonly kind: 'answer'; readonly answer: Answer }
  | { readonly kind: 'cut off'; readonly why: string }
  | { readonly kind: 'silence' };

interface Waiting {
  readonly isHead: boolean;
  readonly since: number;
  readonly resolve: (outcome: Outcome) => void;
}

export class RawConnection {
  readonly #port: number;
  readonly #answerMsMax: number;
  #socket: Socket | null = null;
  #received: Buffer = Buffer.alloc(0);
  #waiting: Waiting | null = null;
  connections = 0;

  constructor(port: number, answerMsMax = ANSWER_MS_MAX) {
    this.#port = port;
    this.#answerMsMax = answerMsMax;
  }

  /** Sends the pieces and waits for one answer. */
  async exchange(pieces: readonly Buffer[], method: string): Promise<Outcome> {
    const socket = this.#connected();
    const answered = new Promise<Outcome>((resolve) => {
      const timer = setTimeout(() => this.#settle({ kind: 'silence' }), this.#answerMsMax);
      this.#waiting = {
        isHead: method === 'HEAD',
        since: performance.now(),
        resolve: (outcome) => {
          clearTimeout(timer);
          resolve(outcome);
        },
      };
    });
    const written = this.#write(socket, pieces);
    const outcome = await answered;
    // A service that answers before it has read everything may never read the rest.
    if (outcome.kind === 'answer' && this.#socket === socket) await written;
    if (outcome.kind !== 'answer') this.close();
    return outcome;
  }

  /** Sends the pieces and closes the connection. */
  async abandon(pieces: readonly Buffer[]): Promise<void> {
    const socket = this.#connected();
    await this.#write(socket, pieces);
    await new Promise((resolve) => {
      setImmediate(resolve);
    });
    this.close();
  }

  close(): void {
    this.#socket?.destroy();
    this.#socket = null;
  }

  async #write(socket: Socket, pieces: readonly Buffer[]): Promise<void> {
    for (const piece of pieces) {
      // A failed write shows as the end of the connection.
      await new Promise<void>((resolve) => {
        socket.write(piece, () => setImmediate(resolve));
      });
    }
  }

  #connected(): Socket {
    if (this.#socket !== null && !this.#socket.destroyed) return this.#socket;
    this.connections += 1;
    this.#received = Buffer.alloc(0);
    const socket = connect(this.#port, '127.0.0.1').setNoDelay(true);
    const ended = (why: string) => {
      if (this.#socket !== socket) return;
      this.#socket = null;
      socket.destroy();
      this.#settle({ kind: 'cut off', why });
    };
    socket.on('data', (data) => {
      if (this.#socket !== socket) return;
      this.#received = this.#received.length === 0 ? data : Buffer.concat([this.#received, data]);
      this.#read();
    });
    socket.on('error', (error: NodeJS.ErrnoException) => ended(error.code ?? error.message));
    socket.on('close', () => ended('closed'));
    this.#socket = socket;
    return socket;
  }

  #settle(outcome: Outcome): void {
    const waiting = this.#waiting;
    this.#waiting = null;
    waiting?.resolve(outcome);
  }

  #read(): void {
    const waiting = this.#waiting;
    if (waiting === null) return;
    const parsed = parse(this.#received, waiting.isHead);
    if (parsed === null) return;
    const { status, headers, body, rest } = parsed;
    this.#received = rest;
    // An interim answer, such as 100 Continue. The real one follows.
    if (status < 200) {
      this.#read();
      return;
    }
    if (headers.get('connection') === 'close') this.#drop();
    this.#settle({
      kind: 'answer',
      answer: { status, headers, body, ms: performance.now() - waiting.since },
    });
  }

  #drop(): void {
    const socket = this.#socket;
    this.#socket = null;
    socket?.destroy();
  }
}

interface Parsed {
  readonly status: number;
  readonly headers: ReadonlyMap<string, string>;
  readonly body: Buffer;
  readonly rest: Buffer;
}

function parse(bytes: Buffer, isHead: boolean): Parsed | null {
  const end = bytes.indexOf('\r\n\r\n');
  if (end < 0) return null;
  const [statusLine = '', ...lines] = bytes.subarray(0, end).toString('latin1').split('\r\n');
  const status = Number(/^HTTP\/1\.[01] (\d{3}) /.exec(statusLine)?.[1]);
  if (Number.isNaN(status)) throw new Error(`No status line: ${statusLine.slice(0, 100)}`);
  const headers = new Map(
    lines.map((line) => {
      const colon = line.indexOf(':');
      return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()] as const;
    }),
  );
  const start = end + 4;
  if (isHead || status < 200 || status === 204)
    return { status, headers, body: Buffer.alloc(0), rest: bytes.subarray(start) };
  if (headers.get('transfer-encoding') === 'chunked') {
    const unchunked = dechunk(bytes, start);
    return unchunked && { status, headers, ...unchunked };
  }
  const length = Number(headers.get('content-length') ?? 0);
  if (bytes.length < start + length) return null;
  return {
    status,
    headers,
    body: bytes.subarray(start, start + length),
    rest: bytes.subarray(start + length),
  };
}

function dechunk(bytes: Buffer, from: number): { readonly body: Buffer; readonly rest: Buffer } | null {
  const parts: Buffer[] = [];
  for (let at = from; ; ) {
    const line = bytes.indexOf('\r\n', at);
    if (line < 0) return null;
    const size = Number.parseInt(bytes.subarray(at, line).toString('latin1'), 16);
    const next = line + 2 + size + 2;
    if (bytes.length < next) return null;
    if (size === 0) return { body: Buffer.concat(parts), rest: bytes.subarray(next) };
    parts.push(bytes.subarray(line + 2, line + 2 + size));
    at = next;
  }
}
