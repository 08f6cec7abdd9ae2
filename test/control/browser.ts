/** Acts as a browser at the dashboard: it keeps the cookie and sends the headers that pages send. */
import { expect } from 'vitest';
import { LiveEvent, type SessionInfo } from '#src/control/http/contract.ts';
import { type Answer, Api, type Sending } from '#test/e2e/client.ts';
import { expectDeclared } from './answers.ts';

type Headers = Readonly<Record<string, string>>;

export const API = '/dashboard/api';

export class Browser {
  readonly #url: string;
  readonly #origin: string;
  readonly #api: Api;
  /** The value of the `Cookie` header. Null before a cookie was set. */
  cookie: string | null = null;
  csrf = '';

  /** `origin` is the origin that the browser uses. It may differ from the address of the service. */
  constructor(url: string, origin: string = url) {
    this.#url = url;
    this.#origin = origin;
    this.#api = Api.at(() => url).with({ host: new URL(origin).host });
  }

  get<T>(path: string, headers: Headers = {}): Promise<Answer<T>> {
    return this.send<T>('GET', path, { headers: { ...this.#cookies(), ...headers } });
  }

  /** Sends a change as the page itself does. */
  post<T>(path: string, body: object = {}, headers: Headers = {}): Promise<Answer<T>> {
    return this.change<T>('POST', path, body, headers);
  }

  change<T>(method: string, path: string, body: object, headers: Headers = {}): Promise<Answer<T>> {
    const all: Record<string, string> = { ...this.pageHeaders(), ...this.#cookies(), ...headers };
    // An empty header is left out.
    const sent = Object.fromEntries(Object.entries(all).filter(([, value]) => value !== ''));
    return this.send<T>(method, path, { raw: JSON.stringify(body), headers: sent });
  }

  /** The headers that a browser and the page send with every change. */
  pageHeaders(): Headers {
    return {
      origin: this.#origin,
      'sec-fetch-site': 'same-origin',
      'content-type': 'application/json',
      'x-sched-csrf': this.csrf,
    };
  }

  async send<T>(method: string, path: string, sending: Sending): Promise<Answer<T>> {
    const answer = await this.#api.send<T>(method, `${API}/${path}`, sending);
    this.#keep(answer);
    expectDeclared(method, path, answer.status, answer.json);
    return answer;
  }

  signIn(name: string, password: string, headers: Headers = {}): Promise<Answer<SessionInfo>> {
    return this.#enter('login', { name, password }, headers);
  }

  accept(token: string, name: string, password: string): Promise<Answer<SessionInfo>> {
    return this.#enter('invitation', { token, name, password }, {});
  }

  async #enter(path: string, body: object, headers: Headers): Promise<Answer<SessionInfo>> {
    const answer = await this.post<SessionInfo>(path, body, headers);
    if (answer.status === 200) this.csrf = answer.json.csrf;
    return answer;
  }

  /** Returns the first event of each watch. */
  async watch(watches: readonly string[]): Promise<readonly LiveEvent[]> {
    const query = watches.map((watch) => `watch=${encodeURIComponent(watch)}`).join('&');
    const stop = new AbortController();
    const answer = await fetch(`${this.#url}${API}/live?${query}`, {
      headers: this.#cookies(),
      signal: stop.signal,
    });
    expect(answer.headers.get('content-type')).toBe('text/event-stream');
    expect(answer.headers.get('content-security-policy')).toContain("default-src 'none'");
    let text = '';
    for await (const chunk of answer.body ?? []) {
      text += Buffer.from(chunk).toString();
      const isWhole = text.endsWith('\n\n');
      if (isWhole && watches.every((watch) => text.includes(`"watch":"${watch}"`))) break;
    }
    stop.abort();
    const events = [...text.matchAll(/^data: (.+)$/gm)].map(([, data = '']) =>
      LiveEvent.parse(JSON.parse(data)),
    );
    for (const each of events) if (each.event === 'data') expectDeclared('GET', each.watch, 200, each.body);
    return events;
  }

  #cookies(): Headers {
    return this.cookie === null ? {} : { cookie: this.cookie };
  }

  #keep({ headers }: Answer): void {
    for (const line of headers['set-cookie'] ?? []) {
      const [pair = '', ...attributes] = line.split('; ');
      if (pair.startsWith('__Host-')) continue;
      this.cookie = attributes.includes('Max-Age=0') ? null : pair;
    }
  }
}

/** Checks the whole envelope of an error. */
export function expectRefused(
  answer: Answer,
  status: number,
  code: string,
  param: string | null = null,
): void {
  const { json, headers } = answer as Answer<{ readonly error?: { readonly type: string } }>;
  expect([answer.status, json]).toEqual([
    status,
    {
      error: {
        type: expect.stringMatching(/_error$/),
        code,
        message: expect.stringMatching(/\S/),
        param,
        request_id: headers['sched-request-id'],
      },
    },
  ]);
}
