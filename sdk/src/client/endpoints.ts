import type { Endpoint, EndpointWrite, ListEndpointsQuery } from '../api-types.ts';
import type { CallOptions, WriteOptions } from './options.ts';
import { list, type Pages } from './pages.ts';
import { encodeId, type Transport } from './transport.ts';

const ENDPOINTS = '/endpoints';
const ANSWERS = { answers: 'endpoint' } as const;

/** The endpoint profiles of the project and mode of the API key. */
export class Endpoints {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** Creates an endpoint profile. `url` is required. */
  async create(body: EndpointWrite, options?: WriteOptions): Promise<Endpoint> {
    return this.#transport.call(
      { method: 'POST', path: ENDPOINTS, body, hasIdempotencyKey: true, ...ANSWERS },
      options,
    );
  }

  /** Lists endpoint profiles, newest first. Archived ones are included only with `include_archived`. */
  list(query?: ListEndpointsQuery, options?: CallOptions): Pages<Endpoint> {
    return list(this.#transport, () => ENDPOINTS, { ...query }, options);
  }

  /** Reads one endpoint profile. Rejects with a `NotFoundError` if it does not exist. */
  async get(id: string, options?: CallOptions): Promise<Endpoint> {
    return this.#transport.call({ method: 'GET', path: `${ENDPOINTS}/${encodeId(id)}`, ...ANSWERS }, options);
  }

  /**
   * Creates a new version of an endpoint profile. Fields that are left out stay as they are. Existing deliveries keep
   * the version that they were created with.
   */
  async update(id: string, body: EndpointWrite, options?: WriteOptions): Promise<Endpoint> {
    const path = `${ENDPOINTS}/${encodeId(id)}`;
    return this.#transport.call(
      { method: 'PATCH', path, body, hasIdempotencyKey: true, ...ANSWERS },
      options,
    );
  }

  /** Archives an endpoint profile. It stays readable, but new schedules cannot use it. */
  async archive(id: string, options?: CallOptions): Promise<Endpoint> {
    const path = `${ENDPOINTS}/${encodeId(id)}/archive`;
    return this.#transport.call({ method: 'POST', path, ...ANSWERS }, options);
  }
}
