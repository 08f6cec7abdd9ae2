/** A client for bursts of creates. It keeps many connections open, and tells the kinds of failures apart. */
import { Agent, request } from 'node:http';

export interface Answer {
  readonly status: number;
  readonly replayed: boolean;
  readonly text: string;
}

export interface Create {
  /** The label of the schedule, also sent as `Idempotency-Key`. */
  readonly key: string;
  readonly body: string;
}

/** The connection failed before an answer, for example with `ECONNREFUSED` or `ECONNRESET`. */
export class Unanswered extends Error {
  readonly code: string;

  constructor(code: string) {
    super(`no answer: ${code}`);
    this.code = code;
  }
}

export class Client {
  readonly #url: string;
  readonly #key: string;
  readonly #agent: Agent;

  constructor(url: string, key: string, connections: number) {
    this.#url = url;
    this.#key = key;
    this.#agent = new Agent({ keepAlive: true, maxSockets: connections });
  }

  send(method: string, path: string, given: Partial<Create> = {}): Promise<Answer> {
    return new Promise((resolve, reject) => {
      const headers = {
        authorization: `Bearer ${this.#key}`,
        ...(given.key !== undefined && { 'idempotency-key': given.key }),
      };
      const fail = (error: NodeJS.ErrnoException) => reject(new Unanswered(error.code ?? error.message));
      const sent = request(`${this.#url}${path}`, { method, headers, agent: this.#agent }, (answer) => {
        let text = '';
        answer.setEncoding('utf8').on('data', (part: string) => {
          text += part;
        });
        answer.on('error', fail).on('end', () => {
          const replayed = answer.headers['idempotent-replayed'] === 'true';
          resolve({ status: answer.statusCode ?? 0, replayed, text });
        });
      });
      sent.on('error', fail).end(given.body);
    });
  }

  create(given: Create): Promise<Answer> {
    return this.send('POST', '/v1/schedules', given);
  }

  close(): void {
    this.#agent.destroy();
  }
}

/** Runs the tasks with bounded concurrency. */
export async function inParallel<T>(
  items: readonly T[],
  atOnce: number,
  run: (item: T) => Promise<void>,
): Promise<void> {
  const queue = items.values();
  await Promise.all(
    Array.from({ length: atOnce }, async () => {
      for (const item of queue) await run(item);
    }),
  );
}
