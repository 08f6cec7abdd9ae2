/**
 * Seals every value again with the present master key, so that an earlier key can be retired.
 *
 * It runs beside the service. It reads each column in the order of its keys, one bounded page at a time, and pauses
 * after each page. The head of a value names its master key, so a value sealed with the present key is skipped without
 * opening it. An interrupted run is therefore continued by running it again. A value is replaced only if it has not
 * changed since it was read.
 */

import { pause, type Timers } from '#src/ports/system.ts';
import type { ResealingVault } from '#src/ports/vault.ts';
import {
  SEALED_COLUMN_NAMES,
  type SealedColumnName,
  type SealedEntry,
  type SealedKey,
  type SealedReplacement,
  type SealedStore,
} from '#src/ports/vault.ts';

/** Counts of a column's values, by outcome. */
export interface ResealCounts {
  readonly resealed: number;
  /** These were sealed with the present key, for their present context, before this run. */
  readonly already: number;
  /** These cannot be opened: their key is missing, or they were tampered with. */
  readonly unreadable: number;
  /** These changed after they were read, and were left as they are. */
  readonly changed: number;
}

export interface ResealReport {
  readonly columns: Readonly<Record<SealedColumnName, ResealCounts>>;
  readonly total: ResealCounts;
  /** The contexts of the first values that cannot be opened. */
  readonly unreadable: readonly string[];
}

export interface ResealDependencies {
  readonly sealed: SealedStore;
  readonly vault: ResealingVault;
  readonly timers: Timers;
  /** Called after each page. */
  readonly progress: (name: SealedColumnName, counts: ResealCounts) => void;
}

/** Rows that are read, and written in one transaction, at a time. */
export const PAGE_ROWS_MAX = 50;
/** Total size of the values that are read and written at a time. A single value may be larger. */
export const PAGE_BYTES_MAX = 1_048_576;
/** The service can write during this pause. */
export const PAUSE_MS = 50;
const UNREADABLE_NAMED_MAX = 20;

const NONE: ResealCounts = { resealed: 0, already: 0, unreadable: 0, changed: 0 };

export async function reseal(dependencies: ResealDependencies): Promise<ResealReport> {
  const unreadable: string[] = [];
  const columns = {} as Record<SealedColumnName, ResealCounts>;
  for (const name of SEALED_COLUMN_NAMES) {
    columns[name] = await new ColumnResealer(dependencies, name, (context) => {
      if (unreadable.length < UNREADABLE_NAMED_MAX) unreadable.push(context);
    }).run();
  }
  return { columns, total: Object.values(columns).reduce(sum, NONE), unreadable };
}

function sum(one: ResealCounts, other: ResealCounts): ResealCounts {
  return {
    resealed: one.resealed + other.resealed,
    already: one.already + other.already,
    unreadable: one.unreadable + other.unreadable,
    changed: one.changed + other.changed,
  };
}

/** Reseals one column. */
class ColumnResealer {
  readonly #dependencies: ResealDependencies;
  readonly #name: SealedColumnName;
  readonly #onUnreadable: (context: string) => void;
  #counts = NONE;

  constructor(
    dependencies: ResealDependencies,
    name: SealedColumnName,
    onUnreadable: (context: string) => void,
  ) {
    this.#dependencies = dependencies;
    this.#name = name;
    this.#onUnreadable = onUnreadable;
  }

  async run(): Promise<ResealCounts> {
    const { sealed, progress, timers } = this.#dependencies;
    let after: SealedKey | null = null;
    for (;;) {
      const entries: readonly SealedEntry[] = await sealed.listSealed(this.#name, after, PAGE_ROWS_MAX);
      const last = entries.at(-1);
      if (last === undefined) return this.#counts;
      for (const page of this.#pages(entries)) {
        await this.#resealPage(page);
        await pause(timers, PAUSE_MS);
      }
      progress(this.#name, this.#counts);
      after = last.key;
    }
  }

  /** Yields the rows that have to be read, in pages of a bounded size, and counts the others. */
  *#pages(entries: readonly SealedEntry[]): Generator<readonly SealedEntry[]> {
    let page: SealedEntry[] = [];
    let bytes = 0;
    for (const entry of entries) {
      const { head } = entry;
      if (head === null) continue;
      if (this.#dependencies.vault.isCurrentKey(head)) {
        this.#count({ already: 1 });
        continue;
      }
      if (page.length > 0 && bytes + entry.bytes > PAGE_BYTES_MAX) {
        yield page;
        page = [];
        bytes = 0;
      }
      page.push(entry);
      bytes += entry.bytes;
    }
    if (page.length > 0) yield page;
  }

  async #resealPage(entries: readonly SealedEntry[]): Promise<void> {
    const { sealed } = this.#dependencies;
    const replacements: SealedReplacement[] = [];
    for (const entry of entries) {
      const was = await sealed.findSealed(this.#name, entry.key);
      const replacement = was && this.#replacement(entry, was);
      if (replacement !== null) replacements.push(replacement);
    }
    if (replacements.length === 0) return;
    const answers = await sealed.replaceSealed(this.#name, replacements);
    const resealed = answers.filter((answer) => answer === 'done').length;
    this.#count({ resealed, changed: answers.length - resealed });
  }

  #replacement({ key, context }: SealedEntry, was: Uint8Array): SealedReplacement | null {
    const { vault } = this.#dependencies;
    if (vault.isCurrentKey(was)) {
      this.#count({ already: 1 });
      return null;
    }
    const plain = this.#tryOpen(context, was);
    if (plain === null) {
      this.#count({ unreadable: 1 });
      this.#onUnreadable(context);
      return null;
    }
    return { key, was, sealed: vault.seal(context, plain) };
  }

  #tryOpen(context: string, sealed: Uint8Array): Uint8Array | null {
    try {
      return this.#dependencies.vault.open(context, sealed);
    } catch {
      return null;
    }
  }

  #count(more: Partial<ResealCounts>): void {
    this.#counts = sum(this.#counts, { ...NONE, ...more });
  }
}
