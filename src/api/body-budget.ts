/**
 * Limits the memory of large request bodies. Each uses memory from its first byte on, and time of the thread
 * that also sends deliveries when it is parsed, sealed and stored. Two budgets limit that: one for bodies that
 * arrive or have arrived, one for those that are processed. A request waits for the first budget before any of
 * its body is read, so the backpressure reaches the sender. Small bodies never wait.
 *
 * A body without a Content-Length starts as a small one. It enters the budget when it turns out to be large.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Readable } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { PauseLength } from '#src/commands/pauses.ts';
import { Refusal } from '#src/domain/errors.ts';
import { SHORT_JSON_MAX } from '#src/domain/json.ts';
import type { Stopwatch, Timers } from '#src/ports/system.ts';
import { ByteBudget, type BytePermit } from './byte-budget.ts';
import { UnsizedBody } from './unsized-body.ts';

export const BODY_BYTES_MAX = 1_048_576;
/** A longer body is large. */
export const SMALL_BODY_BYTES_MAX = SHORT_JSON_MAX;
/** The limit of bodies that arrive or have arrived. Fast senders could deliver all of it in one tick. */
export const ARRIVING_BYTES_MAX = 32 * BODY_BYTES_MAX;
/** A large body must arrive within this time. Otherwise a client that sends nothing would hold a share. */
export const ARRIVAL_MS_MAX = 10_000;
/** The limit of bodies that are parsed, sealed and stored. Each needs several times its size meanwhile. */
const PROCESSING_BYTES_MAX = 4 * BODY_BYTES_MAX;

interface ArrivingBody {
  readonly permit: BytePermit;
  readonly response: ServerResponse;
}

export class BodyBudget {
  readonly #timers: Timers;
  readonly #arriving: ByteBudget;
  readonly #processing: ByteBudget;
  readonly #bodies = new WeakMap<IncomingMessage, ArrivingBody>();
  /** The calls that wait for the budget, for requests without a Content-Length. */
  readonly #unsized = new WeakMap<IncomingMessage, () => Promise<void>>();

  constructor(timers: Timers & Stopwatch) {
    this.#timers = timers;
    this.#arriving = new ByteBudget(ARRIVING_BYTES_MAX, timers);
    this.#processing = new ByteBudget(PROCESSING_BYTES_MAX, timers);
  }

  /** Resolves when the body may be read. Returns null if it may be read at once. */
  admit({ raw }: FastifyRequest, reply: FastifyReply, customer: string): Promise<void> | null {
    if (raw.method === 'GET') return null;
    if (raw.headers['transfer-encoding'] !== undefined) {
      this.#unsized.set(raw, () => this.#acquire(raw, reply.raw, customer, BODY_BYTES_MAX));
      return null;
    }
    const bytes = Number(raw.headers['content-length'] ?? 0);
    // The framework refuses a body that is too large without reading it.
    if (bytes <= SMALL_BODY_BYTES_MAX || bytes > BODY_BYTES_MAX) return null;
    return this.#acquire(raw, reply.raw, customer, bytes);
  }

  /** Returns the body of an admitted request as a stream that respects the budget. */
  limitedBody({ raw }: FastifyRequest, body: Readable): Readable {
    const acquire = this.#unsized.get(raw);
    return acquire === undefined ? body : UnsizedBody.of(body, SMALL_BODY_BYTES_MAX, acquire);
  }

  /** Processes a request whose body has arrived. For a large body it pauses first. */
  process<T>(
    request: FastifyRequest,
    customer: string,
    pause: (length: PauseLength) => Promise<void>,
    act: () => Promise<T>,
  ): Promise<T> {
    const { raw, body } = request;
    const bytes = Buffer.isBuffer(body) ? body.length : 0;
    // Bodies are stored in groups, so several are admitted at once. Each starts in its own tick.
    const actAfterPause = () => pause('long').then(act);
    if (bytes > SMALL_BODY_BYTES_MAX) return this.#processLarge(request, customer, bytes, actAfterPause);
    this.#bodies.get(raw)?.permit.release();
    return act();
  }

  async #acquire(
    raw: IncomingMessage,
    response: ServerResponse,
    customer: string,
    bytes: number,
  ): Promise<void> {
    const permit = this.#arriving.acquire(customer, bytes);
    this.#bodies.set(raw, { permit, response });
    response.once('close', () => permit.release());
    // The client may have disconnected while its key was looked up.
    if (response.closed) permit.release();
    await permit.granted;
    const cancelTimer = this.#timers.after(ARRIVAL_MS_MAX, () => {
      if (!raw.complete) raw.socket.destroy();
    });
    response.once('close', cancelTimer);
    if (response.closed) cancelTimer();
  }

  async #processLarge<T>(
    request: FastifyRequest,
    customer: string,
    bytes: number,
    act: () => Promise<T>,
  ): Promise<T> {
    const arrived = this.#bodies.get(request.raw);
    // The permit of a disconnected client is released already, so its body must not stay in memory.
    if (arrived?.response.closed) throw new Refusal('unavailable');
    const permit = this.#processing.acquire(customer, bytes);
    const release = () => permit.release();
    arrived?.response.once('close', release);
    try {
      await permit.granted.finally(() => arrived?.response.off('close', release));
      return await act();
    } finally {
      // A client that is slow to read its answer holds neither budget nor body in the meantime.
      request.body = undefined;
      permit.release();
      arrived?.permit.release();
    }
  }
}
