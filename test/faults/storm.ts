/** A burst of creates. Several clients send one request after the other, each with its own key. */
import { type Client, type Create, Unanswered } from './client.ts';

export interface Acknowledged extends Create {
  readonly id: string;
  /** The body of the answer. */
  readonly text: string;
}

export interface Unacknowledged extends Create {
  readonly why: string;
}

export interface Storm {
  readonly acknowledged: readonly Acknowledged[];
  readonly unacknowledged: readonly Unacknowledged[];
  /** Answers other than 201. */
  readonly refused: readonly { readonly status: number; readonly text: string }[];
  /** Resolves when this many have been acknowledged, or the burst is over. */
  reached(acknowledged: number): Promise<void>;
  /** Resolves when every client has met a closed connection. */
  readonly over: Promise<void>;
}

/** A create whose body is unique, with headers and body to be sealed. */
export function createOf(key: string): Create {
  const body = {
    endpoint: 'https://storm.invalid/hook',
    delay: '24h',
    headers: { 'X-Storm': key },
    body: `{"storm":"${key}"}`,
    metadata: { storm: key.split('/')[0] ?? '' },
  };
  return { key, body: JSON.stringify(body) };
}

/** Each client continues until its first request without an answer. */
export function startStorm(client: Client, name: string, clients: number): Storm {
  const acknowledged: Acknowledged[] = [];
  const unacknowledged: Unacknowledged[] = [];
  const refused: { readonly status: number; readonly text: string }[] = [];
  const waiting: { readonly count: number; readonly resolve: () => void }[] = [];

  const runClient = async (number: number) => {
    for (let n = 0; ; n++) {
      const create = createOf(`${name}/${number}/${n}`);
      try {
        const { status, text } = await client.create(create);
        if (status === 201)
          acknowledged.push({ ...create, text, id: (JSON.parse(text) as { id: string }).id });
        else refused.push({ status, text });
      } catch (error) {
        if (!(error instanceof Unanswered)) throw error;
        unacknowledged.push({ ...create, why: error.code });
        return;
      }
      for (const { count, resolve } of waiting) if (acknowledged.length >= count) resolve();
    }
  };

  const runClients = async () => {
    await Promise.all(Array.from({ length: clients }, (_, i) => runClient(i)));
    for (const { resolve } of waiting) resolve();
  };
  return {
    acknowledged,
    unacknowledged,
    refused,
    over: runClients(),
    reached: (count) => new Promise((resolve) => waiting.push({ count, resolve })),
  };
}
