/**
 * Seals everything anew with the present master key, so that an earlier one can be retired.
 *
 * It works beside the service, a bounded page at a time with a pause after each. Columns are walked in the order of
 * their keys. The head of a value names its master key, so what is sealed with the present one already is passed by
 * unopened: a run that was interrupted is carried on by running it again. A value is replaced only where it is still
 * the one that was read.
 */

import type { Timers } from '#src/ports/system.ts';
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
  /** They were sealed with the present key, for the context they are in, before this run. */
  readonly already: number;
  /** They cannot be opened: their key is not at hand, or they were tampered with. */
  readonly unreadable: number;
  /** Somebody else changed them in this moment; they were left as they are. */
  readonly changed: number;
}

export interface ResealReport {
  readonly columns: Readonly<Record<SealedColumnName, ResealCounts>>;
  readonly total: ResealCounts;
  /** The places of the first ones that cannot be opened. */
  readonly unreadable: readonly string[];
}

export interface ResealDependencies {
  readonly sealed: SealedStore;
  readonly vault: ResealingVault;
  readonly timers: Timers;
  /** Called after each page. */
  readonly progress: (name: SealedColumnName, counts: ResealCounts) => void;
}

/** Rows that are looked at, and written in one transaction, at a time. */
export const PAGE_ROWS_MAX = 50;
/** Values that are read and written at a time; a single one may be larger. */
export const PAGE_BYTES_MAX = 1_048_576;
/** The service's writes go on in this pause. */
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

/** Walks through one column. */
class ColumnResealer {
  readonly #dependencies: ResealDependencies;
  readonly #name: SealedColumnName;
  readonly #cannotOpen: (context: string) => void;
  #counts = NONE;

  constructor(
    dependencies: ResealDependencies,
    name: SealedColumnName,
    cannotOpen: (context: string) => void,
  ) {
    this.#dependencies = dependencies;
    this.#name = name;
    this.#cannotOpen = cannotOpen;
  }

  async run(): Promise<ResealCounts> {
    const { sealed, progress } = this.#dependencies;
    let after: SealedKey | null = null;
    for (;;) {
      const entries: readonly SealedEntry[] = await sealed.listSealed(this.#name, after, PAGE_ROWS_MAX);
      const last = entries.at(-1);
      if (last === undefined) return this.#counts;
      for (const page of this.#pages(entries)) {
        await this.#page(page);
        await this.#pause();
      }
      progress(this.#name, this.#counts);
      after = last.key;
    }
  }

  /** The rows that have to be read, in pieces of a bounded size; the others are counted. */
  *#pages(entries: readonly SealedEntry[]): Generator<readonly SealedEntry[]> {
    let page: SealedEntry[] = [];
    let bytes = 0;
    for (const entry of entries) {
      const { head, legacyContext } = entry;
      if (head === null) continue;
      if (legacyContext === null && this.#dependencies.vault.isCurrentKey(head)) {
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

  async #page(entries: readonly SealedEntry[]): Promise<void> {
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

  #replacement({ key, context, legacyContext }: SealedEntry, was: Uint8Array): SealedReplacement | null {
    const { vault } = this.#dependencies;
    const inPlace = this.#opened(context, was);
    if (inPlace !== null && vault.isCurrentKey(was)) {
      this.#count({ already: 1 });
      return null;
    }
    const plain = inPlace ?? (legacyContext === null ? null : this.#opened(legacyContext, was));
    if (plain === null) {
      this.#count({ unreadable: 1 });
      this.#cannotOpen(context);
      return null;
    }
    return { key, was, sealed: vault.seal(context, plain) };
  }

  #opened(context: string, sealed: Uint8Array): Uint8Array | null {
    try {
      return this.#dependencies.vault.open(context, sealed);
    } catch {
      return null;
    }
  }

  #count(more: Partial<ResealCounts>): void {
    this.#counts = sum(this.#counts, { ...NONE, ...more });
  }

  #pause(): Promise<void> {
    return new Promise((resolve) => void this.#dependencies.timers.after(PAUSE_MS, resolve));
  }
}
