import type { Endpoint, ListEndpointsQuery, Plan } from '../api-types.ts';
import { checkBody, encodeId } from './arguments.ts';
import { toApiBody } from './convenient.ts';
import type { EndpointCreate, EndpointPut, EndpointUpdate } from './inputs.ts';
import type { CallOptions, WriteOptions } from './options.ts';
import { list, type Pages } from './pages.ts';
import { type DryRun, namedPath, type Put, type PutOptions, put } from './put.ts';
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
   * Creates the endpoint profile with this name, or makes it equal to `endpoint`. Fields that are left out take their
   * defaults. A change creates a new version. If everything is equal, nothing is written. With `dryRun: true` nothing is
   * written in any case, and the call returns what would happen.
   */
  async put(name: string, endpoint: EndpointPut, options: DryRun): Promise<Plan>;
  async put(
    name: string,
    endpoint: EndpointPut,
    options?: CallOptions & { readonly dryRun?: false | undefined },
  ): Promise<Put<Endpoint>>;
  async put(name: string, endpoint: EndpointPut, options?: PutOptions): Promise<Put<Endpoint> | Plan>;
  async put(name: string, endpoint: EndpointPut, options?: PutOptions): Promise<Put<Endpoint> | Plan> {
    const example = "{ url: 'https://example.com/hook' }";
    const body = toApiBody(checkBody('endpoints.put', endpoint, example));
    return put(this.#transport, 'endpoints', name, body, ANSWERS, options);
  }

  /** Reads the endpoint profile that has this name. Rejects with a `NotFoundError` if there is none. */
  async getNamed(name: string, options?: CallOptions): Promise<Endpoint> {
    return this.#transport.call(
      { method: 'GET', path: namedPath('endpoints', 'getNamed', name), ...ANSWERS },
      options,
    );
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
