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

type UpgradeStore = Pick<ClusterStore, 'listVersions' | 'refuseOlderPrograms'>;

export class RollingUpgrade {
  readonly #store: UpgradeStore;
  readonly #stopwatch: Stopwatch;
  /** The versions since which something new was used. Programs before them cannot start any more. */
  readonly #begun = new Set<string>();
  #versions: Promise<readonly string[]> = Promise.resolve([]);
  #readAt = Number.NEGATIVE_INFINITY;

  constructor(store: UpgradeStore, stopwatch: Stopwatch) {
    this.#store = store;
    this.#stopwatch = stopwatch;
  }

  /**
   * Refuses a request while a node lives that is older than `since`. Before the first request that is not refused, older
   * programs are kept from starting: they would not know what it leaves behind.
   */
  async requireSince(since: string): Promise<void> {
    refuseOlder(await this.#read(), since);
    if (this.#begun.has(since)) return;
    await this.#store.refuseOlderPrograms(since);
    // One may have started in the meantime.
    refuseOlder(await this.#store.listVersions(), since);
    this.#begun.add(since);
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

function refuseOlder(versions: readonly string[], since: string): void {
  const older = versions.find((version) => isOlder(version, since));
  if (older !== undefined) throw new Refusal('unavailable', null, olderNodeText(older, since));
}
