/**
 * When keys were used, kept to the minute: a use is written where the last one that was written is a minute ago.
 * So what is stored lies behind by a minute at most, and a busy key costs a write a minute. Nobody waits for it.
 */
import type { Instant } from '#src/domain/instant.ts';
import type { ControlStore, KeyUse } from '#src/ports/control-store.ts';

const WRITTEN_EVERY_MS = 60_000;
const KEYS_MAX = 10_000;
/** Of one write. */
const TOGETHER_MAX = 500;

export class KeyUses {
  readonly #store: Pick<ControlStore, 'touchKeys'>;
  /** By the key's hash, the use that was written, or is about to be. */
  readonly #written = new Map<string, Instant>();
  #waiting: KeyUse[] = [];
  #isWriting = false;

  constructor(store: Pick<ControlStore, 'touchKeys'>) {
    this.#store = store;
  }

  note(hash: string, at: Instant): void {
    const written = this.#written.get(hash);
    // A clock that was set back is no reason to wait for it.
    if (written !== undefined && at >= written && at - written < WRITTEN_EVERY_MS) return;
    if (this.#written.size >= KEYS_MAX) this.#written.clear();
    if (this.#waiting.length >= KEYS_MAX) return;
    this.#written.set(hash, at);
    this.#waiting.push({ hash, at });
    if (!this.#isWriting) void this.#write();
  }

  async #write(): Promise<void> {
    this.#isWriting = true;
    while (this.#waiting.length > 0) {
      const uses = this.#waiting.splice(0, TOGETHER_MAX);
      try {
        await this.#store.touchKeys(uses);
      } catch {
        // A store that takes no writes says so elsewhere; the next use of the key is written again.
        for (const { hash } of uses) this.#written.delete(hash);
      }
    }
    this.#isWriting = false;
  }
}
