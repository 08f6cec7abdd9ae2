/** What every command needs, and the loop they share. */
import { Refusal } from '#src/domain/errors.ts';
import type { IdMint } from '#src/domain/id.ts';
import type { Instant } from '#src/domain/instant.ts';
import { SHORT_JSON_MAX } from '#src/domain/json.ts';
import type { Labels } from '#src/domain/labels.ts';
import type { Partition } from '#src/domain/project.ts';
import type { Hints } from '#src/ports/hints.ts';
import { type Receipt, type Store, StoreUnavailable, type WriteOutcome } from '#src/ports/store.ts';
import type { Clock } from '#src/ports/system.ts';
import type { Vault } from '#src/ports/vault.ts';
import type { PauseLength } from './pauses.ts';

export interface Commands {
  readonly store: Store;
  readonly clock: Clock;
  readonly ids: IdMint;
  readonly vault: Vault;
  readonly hints: Hints;
  readonly mutex: KeyedMutex;
  /** Gives everything else its turn, and other customers theirs first. */
  readonly pause: (partition: Partition, length?: PauseLength) => Promise<void>;
}

/** A finished answer: what is sent, and what is kept for the same request made again. */
export interface RenderedAnswer {
  readonly status: number;
  readonly body: string;
}

/** Turns a result into the answer; given by the API, called before anything is stored. */
export type Render<T> = (result: T) => RenderedAnswer;

/** Makes the receipt of an answer; null for a request without an idempotency key. */
export type MakeReceipt = (answer: RenderedAnswer, now: Instant) => Receipt | null;

/** Another request stored its receipt under the same key first. */
export class IdempotencyKeyTaken extends Error {}

/**
 * Runs changes to the same object one after the other. The object's `revision` would detect a conflict as well, but
 * each loser has to decide again: of a hundred concurrent changes most would do so in vain. Across nodes only the
 * revision protects.
 */
export class KeyedMutex {
  readonly #last = new Map<string, Promise<unknown>>();

  /** Runs `act` once every earlier call with the same key has ended. */
  async run<T>(key: string, act: () => Promise<T>): Promise<T> {
    const before = this.#last.get(key) ?? Promise.resolve();
    const result = before.then(act, act);
    this.#last.set(key, result);
    try {
      return await result;
    } finally {
      if (this.#last.get(key) === result) this.#last.delete(key);
    }
  }
}

/** How often a decision is made anew because what it was made from had changed meanwhile. */
const CONFLICTS_MAX = 20;

/** One attempt at a decision: `done`, or why it must be made anew. */
export interface WriteResult {
  readonly written: WriteOutcome;
  readonly answer: RenderedAnswer;
}

/** Reads, decides and writes until nobody else came between. */
export async function retryUntilWritten(attempt: () => Promise<WriteResult>): Promise<RenderedAnswer> {
  for (let attempts = 0; attempts < CONFLICTS_MAX; attempts++) {
    const { written, answer } = await attempt();
    if (written === 'done') return answer;
    if (written === 'key_taken') throw new IdempotencyKeyTaken();
  }
  throw new StoreUnavailable('The object kept changing while it was being written.');
}

/**
 * Whether labels are so long that each step with them takes its time: to read, to digest, to render and to store them.
 * Between such steps everything else has its turn.
 */
export function areLarge(labels: Labels): boolean {
  return labels.reduce((sum, [name, value]) => sum + name.length + value.length, 0) > SHORT_JSON_MAX;
}

export function requireFound<T>(object: T | null): T {
  if (object === null) throw new Refusal('not_found');
  return object;
}
