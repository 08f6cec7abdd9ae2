/**
 * During a rolling upgrade older nodes work beside newer ones. They do not know what is new, so a request that uses it is
 * refused until the last of them has left.
 */
import { Refusal } from '#src/domain/errors.ts';
import { isOlder } from '#src/domain/program-version.ts';
import type { ClusterStore } from '#src/ports/cluster-store.ts';
import type { Stopwatch } from '#src/ports/system.ts';
import { olderNodeText } from '#src/texts/state-fault-text.ts';

/** The versions are read again after this time. */
const KNOWN_MS = 1_000;

export class RollingUpgrade {
  readonly #store: Pick<ClusterStore, 'listVersions'>;
  readonly #stopwatch: Stopwatch;
  #versions: Promise<readonly string[]> = Promise.resolve([]);
  #readAt = Number.NEGATIVE_INFINITY;

  constructor(store: Pick<ClusterStore, 'listVersions'>, stopwatch: Stopwatch) {
    this.#store = store;
    this.#stopwatch = stopwatch;
  }

  /** Refuses a request while a node lives that is older than `since`. */
  async requireSince(since: string): Promise<void> {
    const older = (await this.#read()).find((version) => isOlder(version, since));
    if (older !== undefined) throw new Refusal('unavailable', null, olderNodeText(older, since));
  }

  #read(): Promise<readonly string[]> {
    const now = this.#stopwatch.elapsed();
    if (now - this.#readAt < KNOWN_MS) return this.#versions;
    this.#readAt = now;
    this.#versions = this.#store.listVersions();
    this.#versions.catch(() => {
      this.#readAt = Number.NEGATIVE_INFINITY;
    });
    return this.#versions;
  }
}
