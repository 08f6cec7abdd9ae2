/**
 * The API as a client sees it. Every answer is checked against the rules that hold for all answers: it has its own
 * request id, it contains no planted secret, and `docs/openapi.json` describes it.
 */
import { Agent, type IncomingHttpHeaders, request } from 'node:http';
import { readJson } from '#sdk/json/read-json.ts';
import { undocumented } from './document.ts';

export interface Answer<T = unknown> {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  /** The parsed body. Undefined if it is not JSON. */
  readonly json: T;
}

export interface Sending {
  /** This body is sent unchanged. `post` and `patch` send JSON. */
  readonly raw?: string | Uint8Array;
  readonly headers?: Readonly<Record<string, string>>;
  /** By default a raw body is sent with its length. */
  readonly chunked?: boolean;
}

/**
 * All header values and bodies of schedules in this suite come from here. They must never appear in an answer or a
 * log line.
 */
export function planted(what: string): string {
  return `${PLANTED}-${what}`;
}
export const PLANTED = 'pLaNtEd';

export const REQUEST_ID = /^req_[0-9a-z]{26}$/;

const seenRequestIds = new Set<string>();

export class Api {
  readonly #base: () => string;
  readonly #agent: Agent;
  readonly #headers: Readonly<Record<string, string>>;

  private constructor(base: () => string, agent: Agent, headers: Readonly<Record<string, string>>) {
    this.#base = base;
    this.#agent = agent;
    this.#headers = headers;
  }

  /** `base` is read for every call, because a restarted service has another address. */
  static at(base: () => string): Api {
    return new Api(base, new Agent({ keepAlive: true }), {});
  }

  /** The same service with additional headers on every call. */
  with(headers: Readonly<Record<string, string>>): Api {
    return new Api(this.#base, this.#agent, { ...this.#headers, ...headers });
  }

  as(key: string): Api {
    return this.with({ authorization: `Bearer ${key}` });
  }

  get<T = unknown>(path: string): Promise<Answer<T>> {
    return this.send('GET', path);
  }

  post<T = unknown>(path: string, body?: object): Promise<Answer<T>> {
    return this.#sendJson('POST', path, body);
  }

  patch<T = unknown>(path: string, body?: object): Promise<Answer<T>> {
    return this.#sendJson('PATCH', path, body);
  }

  #sendJson<T>(method: string, path: string, body: object | undefined): Promise<Answer<T>> {
    if (body === undefined) return this.send(method, path);
    return this.send(method, path, {
      raw: JSON.stringify(body),
      headers: { 'content-type': 'application/json' },
    });
  }

  async send<T = unknown>(method: string, path: string, sending: Sending = {}): Promise<Answer<T>> {
    const answer = await this.#exchange<T>(method, path, sending);
    const id = answer.headers['sched-request-id'];
    if (typeof id !== 'string' || !REQUEST_ID.test(id) || seenRequestIds.has(id)) {
      throw new Error(
        `${short(method, path)}: ${answer.status} without a Sched-Request-Id of its own: ${String(id)}`,
      );
    }
    seenRequestIds.add(id);
    if (`${answer.text}${JSON.stringify(answer.headers)}`.includes(PLANTED)) {
      throw new Error(
        `${short(method, path)}: ${answer.status} shows a header value or a body: ${answer.text}`,
      );
    }
    const fault = undocumented(method, path, answer.status, answer.headers, answer.json);
    if (fault !== '') {
      throw new Error(`${short(method, path)}: ${answer.status} is not as openapi.json says: ${fault}`);
    }
    return answer;
  }

  #exchange<T>(method: string, path: string, { raw, headers, chunked }: Sending): Promise<Answer<T>> {
    const { promise, resolve, reject } = Promise.withResolvers<Answer<T>>();
    const length = raw === undefined || chunked ? {} : { 'content-length': `${Buffer.byteLength(raw)}` };
    // The path is sent unchanged. `URL` would correct a malformed one.
    const { hostname, port } = new URL(this.#base());
    const sent = request(
      {
        hostname,
        port,
        path,
        method,
        agent: this.#agent,
        headers: { ...this.#headers, ...length, ...headers },
      },
      (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('error', reject);
        response.on('end', () => {
          const text = Buffer.concat(chunks).toString();
          const isJson = response.headers['content-type']?.startsWith('application/json') && text !== '';
          const json = (isJson ? readJson(text) : undefined) as T;
          resolve({ status: response.statusCode ?? 0, headers: response.headers, text, json });
        });
      },
    );
    // The service may close the connection after it refused a large body. That is not an error.
    sent.on('error', reject);
    // The body is sent as bytes. With a string, Node would write the headers in UTF-8 instead of Latin-1.
    const bytes = raw === undefined ? undefined : Buffer.from(raw);
    if (chunked && bytes !== undefined) sent.write(bytes);
    sent.end(chunked ? undefined : bytes);
    return promise;
  }
}

function short(method: string, path: string): string {
  return `${method} ${path.slice(0, 80)}`;
}
