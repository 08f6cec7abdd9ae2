import type { Attempt, AttemptResponse, Delivery, ListAttemptsQuery } from '../api-types.ts';
import { checkAttemptNo, encodeId } from './arguments.ts';
import { SchedError } from './errors.ts';
import type { ListDeliveriesQuery } from './inputs.ts';
import type { CallOptions, WriteOptions } from './options.ts';
import { list, type Pages } from './pages.ts';
import type { Transport } from './transport.ts';

const DELIVERIES = '/deliveries';
const ANSWERS = { answers: 'delivery' } as const;

/** The deliveries of the project and mode of the API key. */
export class Deliveries {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** Lists deliveries, newest first. */
  list(query?: ListDeliveriesQuery, options?: CallOptions): Pages<Delivery> {
    return list(this.#transport, 'deliveries.list', () => DELIVERIES, query, options);
  }

  /** Reads one delivery. Rejects with a `NotFoundError` if it does not exist. */
  async get(id: string, options?: CallOptions): Promise<Delivery> {
    const path = `${DELIVERIES}/${encodeId('deliveries.get', id)}`;
    return this.#transport.call({ method: 'GET', path, ...ANSWERS }, options);
  }

  /**
   * Sends an ended delivery again, as a new delivery that is due now. It has the `Idempotency-Key` of the original, so
   * a receiver that deduplicates ignores it if it processed the original.
   */
  async replay(id: string, options?: WriteOptions): Promise<Delivery> {
    const path = `${DELIVERIES}/${encodeId('deliveries.replay', id)}/replay`;
    return this.#transport.call({ method: 'POST', path, hasIdempotencyKey: true, ...ANSWERS }, options);
  }

  /**
   * Ends a delivery that waits for a retry. The only delivery of a one-shot schedule is canceled with its schedule
   * (`not_cancelable`).
   */
  async cancel(id: string, options?: CallOptions): Promise<Delivery> {
    const path = `${DELIVERIES}/${encodeId('deliveries.cancel', id)}/cancel`;
    let isRetried = false;
    const onRetry = () => {
      isRetried = true;
    };
    try {
      return await this.#transport.call({ method: 'POST', path, onRetry, ...ANSWERS }, options);
    } catch (error) {
      // If only the answer was lost, the retry finds a delivery that no longer waits.
      if (!isRetried || !(error instanceof SchedError) || error.code !== 'not_cancelable') throw error;
      const delivery = await this.get(id, options);
      if (delivery.status !== 'canceled') throw error;
      return delivery;
    }
  }

  /** Lists the attempts of a delivery, in the order in which they were made. */
  attempts(id: string, query?: ListAttemptsQuery, options?: CallOptions): Pages<Attempt> {
    const path = () => `${DELIVERIES}/${encodeId('deliveries.attempts', id)}/attempts`;
    return list(this.#transport, 'deliveries.attempts', path, query, options);
  }

  /**
   * Reads the beginning of an answer that was not 2xx. It is kept only if the endpoint profile has a `response_excerpt`, or
   * the operator of the service set one. Rejects with a `NotFoundError` if there is none.
   */
  async response(id: string, attemptNo: number, options?: CallOptions): Promise<AttemptResponse> {
    const delivery = encodeId('deliveries.response', id);
    const path = `${DELIVERIES}/${delivery}/attempts/${checkAttemptNo('deliveries.response', attemptNo)}/response`;
    return this.#transport.call({ method: 'GET', path, answers: 'attempt_response' }, options);
  }
}
