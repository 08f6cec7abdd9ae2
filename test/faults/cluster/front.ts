/**
 * The way to a service of several nodes: calls go to those that are there, one after the other. A call that got
 * no answer, or 503, is made again under the same idempotency key, to the next one. So every call is answered
 * in the end, and has one effect.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { type Answer, Client, type Create, Unanswered } from '../client.ts';
import { TEST_KEY } from '../firing/service.ts';

const CONNECTIONS = 64;
/** Not so soon that those who ask again become the load. */
const AGAIN_MS = 300;
const PATIENCE_MS = 120_000;
const UNAVAILABLE = 503;

export class Front {
  readonly #clients = new Map<string, Client>();
  readonly #underWay = new Map<Client, Set<Promise<Answer>>>();
  #turn = 0;
  /** Calls that were made again. */
  resent = 0;
  /** Answers of 503 `unavailable`. */
  refused = 0;
  /** Other answers that nobody should get. */
  readonly strange: string[] = [];

  open(url: string): void {
    const client = new Client(url, TEST_KEY, CONNECTIONS);
    this.#clients.set(url, client);
    this.#underWay.set(client, new Set());
  }

  /** No new calls. Resolves when those under way have been answered. */
  async leave(url: string): Promise<void> {
    const client = this.#clients.get(url);
    this.#clients.delete(url);
    if (client === undefined) return;
    await Promise.allSettled(this.#underWay.get(client) ?? new Set<Promise<Answer>>());
    this.#close(client);
  }

  /** No new calls, and those under way are broken off. */
  cut(url: string): void {
    const client = this.#clients.get(url);
    this.#clients.delete(url);
    if (client !== undefined) this.#close(client);
  }

  closeAll(): void {
    for (const url of this.#clients.keys()) this.cut(url);
  }

  #close(client: Client): void {
    client.close();
    this.#underWay.delete(client);
  }

  async send(method: string, path: string, given: Partial<Create> = {}): Promise<Answer> {
    const patience = performance.now() + PATIENCE_MS;
    for (let isFirst = true; performance.now() < patience; isFirst = false) {
      const answer = await this.#try(method, path, given);
      if (answer !== null) {
        if (!isFirst) this.resent += 1;
        return answer;
      }
      await sleep(AGAIN_MS);
    }
    throw new Error(`${method} ${path} was not answered within ${PATIENCE_MS} ms.`);
  }

  async create<T>(path: string, key: string, body: object): Promise<T> {
    const answer = await this.send('POST', path, { key, body: JSON.stringify(body) });
    if (answer.status > 201) throw new Error(`${path} answered ${answer.status}: ${answer.text}`);
    return JSON.parse(answer.text) as T;
  }

  async #try(method: string, path: string, given: Partial<Create>): Promise<Answer | null> {
    const clients = [...this.#clients.values()];
    this.#turn += 1;
    const client = clients[this.#turn % clients.length];
    if (client === undefined) return null;
    const calls = this.#underWay.get(client);
    const call = client.send(method, path, given);
    calls?.add(call);
    try {
      const answer = await call;
      if (answer.status < 500) return answer;
      if (answer.status === UNAVAILABLE && answer.text.includes('"unavailable"')) this.refused += 1;
      else this.strange.push(`${answer.status}: ${answer.text}`);
      return null;
    } catch (error) {
      if (error instanceof Unanswered) return null;
      throw error;
    } finally {
      calls?.delete(call);
    }
  }
}
