/**
 * A client of a service that stops and starts. A call without an answer is repeated with the same idempotency
 * key as soon as the service is back. Every call is therefore answered in the end, and takes effect once.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { type Answer, Client, type Create, Unanswered } from '#test/faults/client.ts';
import { TEST_KEY } from './service.ts';

const CONNECTIONS = 64;
const AGAIN_MS = 10;
const PATIENCE_MS = 120_000;
const UNAVAILABLE = 503;

export class RetryingClient {
  #client: Client | null = null;
  /** Calls that were repeated. */
  resent = 0;

  open(url: string): void {
    this.close();
    this.#client = new Client(url, TEST_KEY, CONNECTIONS);
  }

  close(): void {
    this.#client?.close();
    this.#client = null;
  }

  async send(method: string, path: string, given: Partial<Create> = {}): Promise<Answer> {
    const patience = performance.now() + PATIENCE_MS;
    for (let isFirst = true; performance.now() < patience; isFirst = false) {
      const answer = await this.#sendOnce(method, path, given);
      if (answer !== null) {
        if (!isFirst) this.resent += 1;
        return answer;
      }
      await sleep(AGAIN_MS);
    }
    throw new Error(`${method} ${path} was not answered within ${PATIENCE_MS} ms.`);
  }

  async #sendOnce(method: string, path: string, given: Partial<Create>): Promise<Answer | null> {
    try {
      const answer = (await this.#client?.send(method, path, given)) ?? null;
      return answer?.status === UNAVAILABLE ? null : answer;
    } catch (error) {
      if (error instanceof Unanswered) return null;
      throw error;
    }
  }

  /** Creates an object. Every call has its own key. */
  async create<T>(path: string, key: string, body: object): Promise<T> {
    const answer = await this.send('POST', path, { key, body: JSON.stringify(body) });
    if (answer.status > 201) throw new Error(`${path} answered ${answer.status}: ${answer.text}`);
    return JSON.parse(answer.text) as T;
  }
}
