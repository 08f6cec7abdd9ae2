import type { Endpoint, EndpointWrite, ListEndpointsQuery } from '../api-types.ts';
import type { CallOptions, WriteOptions } from './options.ts';
import { list, type Pages } from './pages.ts';
import { encodeId, type Transport } from './transport.ts';

const ENDPOINTS = '/endpoints';
const ANSWERS = { answers: 'endpoint' } as const;

export class Endpoints {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** `url` is required. */
  async create(body: EndpointWrite, options?: WriteOptions): Promise<Endpoint> {
    return this.#transport.call(
      { method: 'POST', path: ENDPOINTS, body, isKeyed: true, ...ANSWERS },
      options,
    );
  }

  /** Newest first, without those that are archived unless they are asked for. */
  list(query?: ListEndpointsQuery, options?: CallOptions): Pages<Endpoint> {
    return list(this.#transport, () => ENDPOINTS, { ...query }, options);
  }

  async get(id: string, options?: CallOptions): Promise<Endpoint> {
    return this.#transport.call({ method: 'GET', path: `${ENDPOINTS}/${encodeId(id)}`, ...ANSWERS }, options);
  }

  /** Makes a new version; what is left out stays. Deliveries that exist keep the version they were made with. */
  async update(id: string, body: EndpointWrite, options?: WriteOptions): Promise<Endpoint> {
    const path = `${ENDPOINTS}/${encodeId(id)}`;
    return this.#transport.call({ method: 'PATCH', path, body, isKeyed: true, ...ANSWERS }, options);
  }

  /** It stays readable but can back no new schedule. */
  async archive(id: string, options?: CallOptions): Promise<Endpoint> {
    const path = `${ENDPOINTS}/${encodeId(id)}/archive`;
    return this.#transport.call({ method: 'POST', path, ...ANSWERS }, options);
  }
}
