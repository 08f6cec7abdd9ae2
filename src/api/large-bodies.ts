/**
 * Large request bodies. Each costs memory from its first byte on, and time of the thread that fires when it is read,
 * sealed and stored. Two budgets bound that: one for bodies that are on their way or in the process, one for those
 * that are worked on. A request waits for the first before anything of its body is read from the connection, so that
 * the sender is held back and not the service. Small bodies never wait.
 *
 * A body that does not say how long it is begins as a small one. It enters the budget when it turns out to be large.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Readable } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { PauseLength } from '#src/commands/pauses.ts';
import { Refusal } from '#src/domain/errors.ts';
import { SHORT_JSON_MAX } from '#src/domain/json.ts';
import type { Stopwatch, Timers } from '#src/ports/system.ts';
import { type Admission, ByteBudget } from './byte-budget.ts';
import { SmallFirst } from './small-first.ts';

export const BODY_BYTES_MAX = 1_048_576;
/** A body that is not longer is small. */
export const SMALL_BODY_BYTES_MAX = SHORT_JSON_MAX;
/** Bodies that arrive or have arrived may hold so much. Fast senders could deliver all of it in one turn of the loop. */
export const ARRIVING_BYTES_MAX = 32 * BODY_BYTES_MAX;
/** A large body arrives within this time of its admission. Else who announces much and sends nothing holds a share. */
export const ARRIVAL_MS_MAX = 10_000;
/** Bodies that are read, sealed and stored may hold so much. Each takes several times its size meanwhile. */
const WORKING_BYTES_MAX = 4 * BODY_BYTES_MAX;

/** A request that has asked for room. */
interface Entered {
  readonly admission: Admission;
  readonly response: ServerResponse;
}

export class LargeBodies {
  readonly #timers: Timers;
  readonly #arriving: ByteBudget;
  readonly #working: ByteBudget;
  readonly #entered = new WeakMap<IncomingMessage, Entered>();
  /** How the requests enter that do not say how long they are. */
  readonly #unannounced = new WeakMap<IncomingMessage, () => Promise<void>>();

  constructor(timers: Timers & Stopwatch) {
    this.#timers = timers;
    this.#arriving = new ByteBudget(ARRIVING_BYTES_MAX, timers);
    this.#working = new ByteBudget(WORKING_BYTES_MAX, timers);
  }

  /** Resolves when the body of a request may be read; null: it may be at once. */
  admit({ raw }: FastifyRequest, reply: FastifyReply, customer: string): Promise<void> | null {
    if (raw.method === 'GET') return null;
    if (raw.headers['transfer-encoding'] !== undefined) {
      this.#unannounced.set(raw, () => this.#enter(raw, reply.raw, customer, BODY_BYTES_MAX));
      return null;
    }
    const bytes = Number(raw.headers['content-length'] ?? 0);
    // The framework refuses a body that is too large without reading it.
    if (bytes <= SMALL_BODY_BYTES_MAX || bytes > BODY_BYTES_MAX) return null;
    return this.#enter(raw, reply.raw, customer, bytes);
  }

  /** The body of an admitted request as it is to be read. */
  arriving({ raw }: FastifyRequest, body: Readable): Readable {
    const enter = this.#unannounced.get(raw);
    return enter === undefined ? body : SmallFirst.of(body, SMALL_BODY_BYTES_MAX, enter);
  }

  /** Carries out a request whose body has arrived. A large one pauses first. */
  carryOut<T>(
    request: FastifyRequest,
    customer: string,
    pause: (length: PauseLength) => Promise<void>,
    act: () => Promise<T>,
  ): Promise<T> {
    const { raw, body } = request;
    const bytes = Buffer.isBuffer(body) ? body.length : 0;
    // Bodies are stored together, and so several are admitted at once. Each begins in a turn of its own.
    const actInTurn = () => pause('long').then(act);
    if (bytes > SMALL_BODY_BYTES_MAX) return this.#work(request, customer, bytes, actInTurn);
    this.#entered.get(raw)?.admission.leave();
    return act();
  }

  async #enter(
    raw: IncomingMessage,
    response: ServerResponse,
    customer: string,
    bytes: number,
  ): Promise<void> {
    const admission = this.#arriving.enter(customer, bytes);
    this.#entered.set(raw, { admission, response });
    response.once('close', () => admission.leave());
    // The client may have gone away while its key was looked up.
    if (response.closed) admission.leave();
    await admission.admitted;
    const callOff = this.#timers.after(ARRIVAL_MS_MAX, () => {
      if (!raw.complete) raw.socket.destroy();
    });
    response.once('close', callOff);
    if (response.closed) callOff();
  }

  async #work<T>(
    request: FastifyRequest,
    customer: string,
    bytes: number,
    act: () => Promise<T>,
  ): Promise<T> {
    const entered = this.#entered.get(request.raw);
    // A client that has gone away holds none of the budget any more, so its body must not stay in memory.
    if (entered?.response.closed) throw new Refusal('unavailable');
    const admission = this.#working.enter(customer, bytes);
    const leave = () => admission.leave();
    entered?.response.once('close', leave);
    try {
      await admission.admitted.finally(() => entered?.response.off('close', leave));
      return await act();
    } finally {
      // A client that is slow to take its answer holds neither budget nor body meanwhile.
      request.body = undefined;
      admission.leave();
      entered?.admission.leave();
    }
  }
}
