import type { Endpoint, ListEndpointsQuery } from '../api-types.ts';
import { checkBody, encodeId } from './arguments.ts';
import { toApiBody } from './convenient.ts';
import type { EndpointCreate, EndpointUpdate } from './inputs.ts';
import type { CallOptions, WriteOptions } from './options.ts';
import { list, type Pages } from './pages.ts';
import type { Transport } from './transport.ts';

const ENDPOINTS = '/endpoints';
const ANSWERS = { answers: 'endpoint' } as const;

/** The endpoint profiles of the project and mode of the API key. */
export class Endpoints {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** Creates an endpoint profile. `url` is required. */
  async create(endpoint: EndpointCreate, options?: WriteOptions): Promise<Endpoint> {
    const example = "{ url: 'https://example.com/hook' }";
    const body = toApiBody(checkBody('endpoints.create', endpoint, example));
    return this.#transport.call(
      { method: 'POST', path: ENDPOINTS, body, hasIdempotencyKey: true, ...ANSWERS },
      options,
    );
  }

  /** Lists endpoint profiles, newest first. Archived ones are included only with `include_archived`. */
  list(query?: ListEndpointsQuery, options?: CallOptions): Pages<Endpoint> {
    return list(this.#transport, 'endpoints.list', () => ENDPOINTS, query, options);
  }

  /** Reads one endpoint profile. Rejects with a `NotFoundError` if it does not exist. */
  async get(id: string, options?: CallOptions): Promise<Endpoint> {
    const path = `${ENDPOINTS}/${encodeId('endpoints.get', id)}`;
    return this.#transport.call({ method: 'GET', path, ...ANSWERS }, options);
  }

  /**
   * Creates a new version of an endpoint profile. Fields that are left out stay as they are. Existing deliveries keep
   * the version that they were created with.
   */
  async update(id: string, changes: EndpointUpdate, options?: WriteOptions): Promise<Endpoint> {
    const path = `${ENDPOINTS}/${encodeId('endpoints.update', id)}`;
    const body = toApiBody(checkBody('endpoints.update', changes, "{ timeout: '10s' }"));
    return this.#transport.call(
      { method: 'PATCH', path, body, hasIdempotencyKey: true, ...ANSWERS },
      options,
    );
  }

  /** Archives an endpoint profile. It stays readable, but new schedules cannot use it. */
  async archive(id: string, options?: CallOptions): Promise<Endpoint> {
    const path = `${ENDPOINTS}/${encodeId('endpoints.archive', id)}/archive`;
    return this.#transport.call({ method: 'POST', path, ...ANSWERS }, options);
  }
}
