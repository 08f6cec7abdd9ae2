import type { Attempt, Delivery, ListAttemptsQuery, ListDeliveriesQuery } from '../api-types.ts';
import type { CallOptions, WriteOptions } from './options.ts';
import { list, type Pages } from './pages.ts';
import { encodeId, type Transport } from './transport.ts';

const DELIVERIES = '/deliveries';
const ANSWERS = { answers: 'delivery' } as const;

export class Deliveries {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** Newest first. */
  list(query?: ListDeliveriesQuery, options?: CallOptions): Pages<Delivery> {
    return list(this.#transport, () => DELIVERIES, { ...query }, options);
  }

  async get(id: string, options?: CallOptions): Promise<Delivery> {
    return this.#transport.call(
      { method: 'GET', path: `${DELIVERIES}/${encodeId(id)}`, ...ANSWERS },
      options,
    );
  }

  /**
   * Makes a new delivery, due now, of one that has ended. It has the original's `Idempotency-Key`: a receiver that
   * deduplicates will ignore it if it processed the original.
   */
  async replay(id: string, options?: WriteOptions): Promise<Delivery> {
    const path = `${DELIVERIES}/${encodeId(id)}/replay`;
    return this.#transport.call({ method: 'POST', path, isKeyed: true, ...ANSWERS }, options);
  }

  /** The first attempt first. */
  attempts(id: string, query?: ListAttemptsQuery, options?: CallOptions): Pages<Attempt> {
    return list(this.#transport, () => `${DELIVERIES}/${encodeId(id)}/attempts`, { ...query }, options);
  }
}
