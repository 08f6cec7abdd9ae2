/**
 * Records when keys were last used, to the minute. A use is written if the last written use is a minute old.
 * The stored time is therefore at most a minute late, and a busy key costs one write a minute. No request waits
 * for the write.
 */
import type { Instant } from '#src/domain/instant.ts';
import type { ControlStore, KeyUse } from '#src/ports/control-store.ts';
import { largeCache } from '#src/ports/large-cache.ts';

const WRITE_INTERVAL_MS = 60_000;
const KEYS_MAX = 10_000;
/** The number of uses in one write. */
const BATCH_MAX = 500;

export class KeyUsage {
  readonly #store: Pick<ControlStore, 'touchKeys'>;
  /** The last use of each key, by its hash. It was written, or waits to be written. */
  readonly #written = largeCache<string, Instant>(KEYS_MAX);
  #waiting: KeyUse[] = [];
  #isWriting = false;

  constructor(store: Pick<ControlStore, 'touchKeys'>) {
    this.#store = store;
  }

  record(hash: string, at: Instant): void {
    const written = this.#written.get(hash);
    // If the clock was set back, the use is written at once.
    if (written !== undefined && at >= written && at - written < WRITE_INTERVAL_MS) return;
    if (this.#waiting.length >= KEYS_MAX) return;
    this.#written.set(hash, at);
    this.#waiting.push({ hash, at });
    if (!this.#isWriting) void this.#write();
  }

  async #write(): Promise<void> {
    this.#isWriting = true;
    while (this.#waiting.length > 0) {
      const uses = this.#waiting.splice(0, BATCH_MAX);
      try {
        await this.#store.touchKeys(uses);
      } catch {
        // A store that fails is reported elsewhere. The next use of the key is written instead.
        for (const { hash } of uses) this.#written.delete(hash);
      }
    }
    this.#isWriting = false;
  }
}
