/**
 * Distributes calls over the nodes in turn. A call without an answer, or with 503, is repeated at the next
 * node with the same idempotency key. Every call is therefore answered in the end, and takes effect once.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { type Answer, Client, type Create, Unanswered } from '#test/faults/client.ts';
import { TEST_KEY } from '#test/faults/single-node/service.ts';

const CONNECTIONS = 64;
/** Long enough that the repeated calls do not become the load. */
const RETRY_MS = 300;
const PATIENCE_MS = 120_000;
const UNAVAILABLE = 503;

export class LoadBalancer {
  readonly #clients = new Map<string, Client>();
  readonly #inFlight = new Map<Client, Set<Promise<Answer>>>();
  #turn = 0;
  /** Calls that were repeated. */
  resent = 0;
  /** Answers of 503 `unavailable`. */
  refused = 0;
  /** Unexpected answers, which are faults. */
  readonly unexpected: string[] = [];

  open(url: string): void {
    const client = new Client(url, TEST_KEY, CONNECTIONS);
    this.#clients.set(url, client);
    this.#inFlight.set(client, new Set());
  }

  /** Sends no new calls there. Resolves when the calls in flight have been answered. */
  async drain(url: string): Promise<void> {
    const client = this.#clients.get(url);
    this.#clients.delete(url);
    if (client === undefined) return;
    await Promise.allSettled(this.#inFlight.get(client) ?? new Set<Promise<Answer>>());
    this.#close(client);
  }

  /** Sends no new calls there, and aborts the calls in flight. */
  disconnect(url: string): void {
    const client = this.#clients.get(url);
    this.#clients.delete(url);
    if (client !== undefined) this.#close(client);
  }

  closeAll(): void {
    for (const url of this.#clients.keys()) this.disconnect(url);
  }

  #close(client: Client): void {
    client.close();
    this.#inFlight.delete(client);
  }

  async send(method: string, path: string, given: Partial<Create> = {}): Promise<Answer> {
    const patience = performance.now() + PATIENCE_MS;
    for (let isFirst = true; performance.now() < patience; isFirst = false) {
      const answer = await this.#sendOnce(method, path, given);
      if (answer !== null) {
        if (!isFirst) this.resent += 1;
        return answer;
      }
      await sleep(RETRY_MS);
    }
    throw new Error(`${method} ${path} was not answered within ${PATIENCE_MS} ms.`);
  }

  async create<T>(path: string, key: string, body: object): Promise<T> {
    const answer = await this.send('POST', path, { key, body: JSON.stringify(body) });
    if (answer.status > 201) throw new Error(`${path} answered ${answer.status}: ${answer.text}`);
    return JSON.parse(answer.text) as T;
  }

  async #sendOnce(method: string, path: string, given: Partial<Create>): Promise<Answer | null> {
    const clients = [...this.#clients.values()];
    this.#turn += 1;
    const client = clients[this.#turn % clients.length];
    if (client === undefined) return null;
    const calls = this.#inFlight.get(client);
    const call = client.send(method, path, given);
    calls?.add(call);
    try {
      const answer = await call;
      if (answer.status < 500) return answer;
      if (answer.status === UNAVAILABLE && answer.text.includes('"unavailable"')) this.refused += 1;
      else this.unexpected.push(`${answer.status}: ${answer.text}`);
      return null;
    } catch (error) {
      if (error instanceof Unanswered) return null;
      throw error;
    } finally {
      calls?.delete(call);
    }
  }
}
