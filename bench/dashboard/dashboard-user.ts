/** A user of the dashboard. The command line invites the user, who signs in over HTTP and uses the session cookie. */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { type SchedStore, storeEnv } from '../sched/service.ts';

const ROOT = join(import.meta.dirname, '../..');
const API = '/dashboard/api/';

export interface Timed {
  readonly ms: number;
  readonly bytes: number;
}

export class DashboardUser {
  readonly #url: string;
  readonly #cookie: string;

  private constructor(url: string, cookie: string) {
    this.#url = url;
    this.#cookie = cookie;
  }

  static async signIn(url: string, store: SchedStore): Promise<DashboardUser> {
    const { stdout } = await promisify(execFile)(
      process.execPath,
      ['bin/sched.js', 'user', 'create', '--role', 'admin', '--json'],
      { cwd: ROOT, env: { ...process.env, ...storeEnv(store) } },
    );
    const [, token = ''] = /invite#([\w-]+)/.exec(stdout) ?? [];
    const answer = await fetch(`${url}${API}invitation`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', origin: url },
      body: JSON.stringify({
        token,
        name: `bench-${process.hrtime.bigint()}`,
        password: 'a long enough pass phrase',
      }),
    });
    if (!answer.ok) throw new Error(`The invitation was answered ${answer.status}: ${await answer.text()}`);
    const [cookie = ''] = answer.headers.getSetCookie();
    return new DashboardUser(url, cookie.split(';')[0] ?? '');
  }

  /** Measures the time from the request to the last byte of the answer. */
  async get(path: string): Promise<Timed> {
    const start = performance.now();
    const answer = await fetch(`${this.#url}${API}${path}`, { headers: { cookie: this.#cookie } });
    const { byteLength } = await answer.arrayBuffer();
    const ms = performance.now() - start;
    if (!answer.ok) throw new Error(`${path} was answered ${answer.status}.`);
    return { ms, bytes: byteLength };
  }

  async json(path: string): Promise<unknown> {
    const answer = await fetch(`${this.#url}${API}${path}`, { headers: { cookie: this.#cookie } });
    return answer.json();
  }

  /** Opens a page. It reads the live stream until it is disposed. */
  async open(watches: readonly string[]): Promise<AsyncDisposable & { readonly bytes: () => number }> {
    const leaving = new AbortController();
    const query = watches.map((watch) => `watch=${encodeURIComponent(watch)}`).join('&');
    const answer = await fetch(`${this.#url}${API}live?${query}`, {
      headers: { cookie: this.#cookie },
      signal: leaving.signal,
    });
    if (!answer.ok || answer.body === null) throw new Error(`The live stream was answered ${answer.status}.`);
    let bytes = 0;
    const reading = (async () => {
      for await (const part of answer.body ?? []) bytes += part.length;
    })().catch(() => {});
    return {
      bytes: () => bytes,
      async [Symbol.asyncDispose]() {
        leaving.abort();
        await reading;
      },
    };
  }
}
