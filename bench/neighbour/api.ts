/** An API client of one customer, for several requests at a time. */
import { setTimeout as sleep } from 'node:timers/promises';
import { Agent } from 'undici';

const POLL_EVERY_MS = 100;
const POLL_MS_MAX = 60_000;

export interface Listed {
  readonly data: readonly { readonly id: string; readonly status?: string }[];
  readonly has_more: boolean;
  readonly next_cursor: string | null;
}

export class Api implements AsyncDisposable {
  readonly #client = new Agent();
  readonly #origin: string;
  readonly #apiKey: string;

  constructor(origin: string, apiKey: string) {
    this.#origin = origin;
    this.#apiKey = apiKey;
  }

  /** Rejects if the status of the answer is not 2xx. */
  async call(method: 'GET' | 'POST', path: string, given: object | null = null): Promise<unknown> {
    const { statusCode, body } = await this.#client.request({
      origin: this.#origin,
      path: `/v1${path}`,
      method,
      headers: { authorization: `Bearer ${this.#apiKey}`, 'content-type': 'application/json' },
      body: given === null ? null : JSON.stringify(given),
    });
    const text = await body.text();
    if (statusCode >= 300) throw new Error(`${method} ${path} was answered ${statusCode}: ${text}`);
    return JSON.parse(text);
  }

  /** Creates `count` objects, numbered from 0, with `atOnce` requests in flight. */
  async createMany(
    path: string,
    count: number,
    atOnce: number,
    bodyOf: (number: number) => object,
  ): Promise<void> {
    const numbers = Array.from({ length: count }, (_, number) => number).values();
    const client = async () => {
      for (const number of numbers) await this.call('POST', path, bodyOf(number));
    };
    await Promise.all(Array.from({ length: atOnce }, client));
  }

  /** Waits until `count` deliveries of the schedule have the status. */
  async deliveriesWith(
    schedule: string,
    status: string,
    count: number,
  ): Promise<readonly { readonly id: string }[]> {
    const until = performance.now() + POLL_MS_MAX;
    for (;;) {
      const { data } = (await this.call('GET', `/schedules/${schedule}/deliveries?limit=100`)) as Listed;
      const found = data.filter((delivery) => delivery.status === status);
      if (found.length >= count) return found;
      if (performance.now() > until) throw new Error(`Fewer than ${count} deliveries became ${status}.`);
      await sleep(POLL_EVERY_MS);
    }
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#client.close();
  }
}
