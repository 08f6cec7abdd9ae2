/** What every command needs, and the loop they share. */
import { Refusal } from '#src/domain/errors.ts';
import type { IdMint } from '#src/domain/id.ts';
import type { Instant } from '#src/domain/instant.ts';
import { SHORT_JSON_MAX } from '#src/domain/json.ts';
import type { Labels } from '#src/domain/labels.ts';
import type { Partition } from '#src/domain/partition.ts';
import type { Clock } from '#src/ports/clock.ts';
import type { Hints } from '#src/ports/hints.ts';
import { type Receipt, type Store, StoreUnavailable, type Written } from '#src/ports/store.ts';
import type { Vault } from '#src/ports/vault.ts';
import type { PauseLength } from './pauses.ts';
import type { Turns } from './turns.ts';

export interface Commands {
  readonly store: Store;
  readonly clock: Clock;
  readonly ids: IdMint;
  readonly vault: Vault;
  readonly hints: Hints;
  readonly turns: Turns;
  /** Gives everything else its turn, and other customers theirs first. */
  readonly pause: (partition: Partition, length?: PauseLength) => Promise<void>;
}

/** A finished answer: what is sent, and what is kept for the same request made again. */
export interface Finished {
  readonly status: number;
  readonly body: string;
}

/** Turns a result into the answer; given by the API, called before anything is stored. */
export type Render<T> = (result: T) => Finished;

/** Makes the receipt of an answer; null for a request without an idempotency key. */
export type Keep = (finished: Finished, now: Instant) => Receipt | null;

/** Another request stored its receipt under the same key first. */
export class KeyTaken extends Error {}

/** How often a decision is made anew because what it was made from had changed meanwhile. */
const ATTEMPTS_MAX = 20;

/** One attempt at a decision: `done`, or why it must be made anew. */
export interface Tried {
  readonly written: Written;
  readonly finished: Finished;
}

/** Reads, decides and writes until nobody else came between. */
export async function untilWritten(attempt: () => Promise<Tried>): Promise<Finished> {
  for (let attempts = 0; attempts < ATTEMPTS_MAX; attempts++) {
    const { written, finished } = await attempt();
    if (written === 'done') return finished;
    if (written === 'key_taken') throw new KeyTaken();
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

export function found<T>(object: T | null): T {
  if (object === null) throw new Refusal('not_found');
  return object;
}
