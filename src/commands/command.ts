/**
 * The common parts of all commands: dependencies, a mutex for each object, and a loop that retries conflicting writes.
 */
import { Refusal } from '#src/domain/errors.ts';
import type { IdMint } from '#src/domain/id.ts';
import type { Instant } from '#src/domain/instant.ts';
import { SHORT_JSON_MAX } from '#src/domain/json.ts';
import type { Labels } from '#src/domain/labels.ts';
import type { Partition } from '#src/domain/project.ts';
import type { ControlStore } from '#src/ports/control-store.ts';
import type { Hints } from '#src/ports/hints.ts';
import { type Receipt, type Store, StoreUnavailable, type WriteOutcome } from '#src/ports/store.ts';
import type { Clock } from '#src/ports/system.ts';
import type { Vault } from '#src/ports/vault.ts';
import { noObjectText } from '#src/texts/id-fault-text.ts';
import type { PauseLength } from './pauses.ts';

export interface Commands {
  readonly store: Store & Pick<ControlStore, 'listSecrets' | 'listEndpointSecrets'>;
  readonly clock: Clock;
  readonly ids: IdMint;
  readonly vault: Vault;
  readonly hints: Hints;
  readonly mutex: KeyedMutex;
  /** Yields to all other work, and to other customers first. */
  readonly pause: (partition: Partition, length?: PauseLength) => Promise<void>;
}

/** An answer that is ready to be sent. An idempotent request keeps it for a repeated request. */
export interface RenderedAnswer {
  readonly status: number;
  readonly body: string;
  /** Nothing was written, because all was so already. */
  readonly isUnchanged?: true;
}

/** Renders a result. The API provides it, and it is called before anything is stored. */
export type Render<T> = (result: T) => RenderedAnswer;

/** Makes the receipt of an answer. Returns null for a request without an idempotency key. */
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

/**
 * How often a decision is made again because of a conflicting write. A node whose writes take a little longer than those
 * of the others can lose many times in a row: with three nodes on Citus, a hundred edits at once lost more than 20.
 */
export const CONFLICTS_MAX = 200;

/** The result of one write. `written` is `done`, or the reason why the decision has to be made again. */
export interface WriteResult {
  readonly written: WriteOutcome;
  readonly answer: RenderedAnswer;
}

/** Reads, decides and writes again until no other write came in between. */
export async function retryUntilWritten(write: () => Promise<WriteResult>): Promise<RenderedAnswer> {
  for (let conflicts = 0; conflicts < CONFLICTS_MAX; conflicts++) {
    const { written, answer } = await write();
    if (written === 'done') return answer;
    if (written === 'key_taken') throw new IdempotencyKeyTaken();
    if (written === 'name_taken') throw new Refusal('name_taken', 'name');
  }
  throw new StoreUnavailable('The object kept changing while it was being written.');
}

/**
 * Returns true if the labels are so long that reading, hashing, rendering or storing them takes noticeable time. The
 * command then pauses between these steps.
 */
export function areLarge(labels: Labels): boolean {
  return labels.reduce((sum, [name, value]) => sum + name.length + value.length, 0) > SHORT_JSON_MAX;
}

/** The message names the object if its id is given. */
export function requireFound<T>(object: T | null, id?: string): T {
  if (object === null) throw new Refusal('not_found', null, id === undefined ? undefined : noObjectText(id));
  return object;
}
