/**
 * The interface as a client sees it. Every answer that comes through here is held to what the
 * specification says of all of them: it carries its own request id, and it shows nothing that was planted.
 */
import { Agent, type IncomingHttpHeaders, request } from 'node:http';
import { readJson } from '#sdk/json/read-json.ts';

export interface Answer<T = unknown> {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  /** The body read as JSON; undefined when it is none. */
  readonly json: T;
}

export interface Sending {
  /** Sent as it is; see `post` and `patch` for JSON. */
  readonly raw?: string | Uint8Array;
  readonly headers?: Readonly<Record<string, string>>;
  /** Left out, a raw body is sent with its length. */
  readonly chunked?: boolean;
}

/**
 * Header values and bodies of schedules, in this suite, all come from here: they must never be seen in an
 * answer or a log line.
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

  /** `base` is asked at every call: a service that was started again listens elsewhere. */
  static at(base: () => string): Api {
    return new Api(base, new Agent({ keepAlive: true }), {});
  }

  /** The same service, with further headers on every call. */
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
    return answer;
  }

  #exchange<T>(method: string, path: string, { raw, headers, chunked }: Sending): Promise<Answer<T>> {
    const { promise, resolve, reject } = Promise.withResolvers<Answer<T>>();
    const length = raw === undefined || chunked ? {} : { 'content-length': `${Buffer.byteLength(raw)}` };
    // The path goes out as it is written: `URL` would mend what is malformed in it.
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
    // A body that is refused for its size may be cut off after the answer: that is no error then.
    sent.on('error', reject);
    // As bytes: beside a text, Node would write the headers in UTF-8 too, and not in Latin-1.
    const bytes = raw === undefined ? undefined : Buffer.from(raw);
    if (chunked && bytes !== undefined) sent.write(bytes);
    sent.end(chunked ? undefined : bytes);
    return promise;
  }
}

function short(method: string, path: string): string {
  return `${method} ${path.slice(0, 80)}`;
}
