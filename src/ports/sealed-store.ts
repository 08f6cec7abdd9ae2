/** Sealed values as they lie in the store: `sched reseal` walks them to retire a master key. */

/** The columns that hold sealed values. A column that is missing here would keep a retired master key alive. */
export const SEALED_NAMES = ['payloads', 'profile_headers', 'signing_secrets', 'endpoint_secrets'] as const;
export type SealedName = (typeof SEALED_NAMES)[number];

/** The values of the key columns, in their order. */
export type SealedKey = readonly (string | number)[];

/** A row of such a column, without its value. */
export interface SealedEntry {
  readonly key: SealedKey;
  /** The value is bound to this place. */
  readonly place: string;
  /** The value may still be bound to this place instead: only opening it tells. Null where there is no such place. */
  readonly earlierPlace: string | null;
  /** The beginning of the value, `SEALED_HEAD_BYTES` long: it names the master key. Null where the row has none. */
  readonly head: Uint8Array | null;
  /** The size of the value. */
  readonly bytes: number;
}

export interface SealedReplacement {
  readonly key: SealedKey;
  /** The value as it was read. */
  readonly was: Uint8Array;
  readonly sealed: Uint8Array;
}

export interface SealedStore {
  /** Rows after `after`, in the order of their keys. */
  listSealed(name: SealedName, after: SealedKey | null, limit: number): Promise<readonly SealedEntry[]>;
  /** Null when the row is gone, or has none. */
  findSealed(name: SealedName, key: SealedKey): Promise<Uint8Array | null>;
  /** `stale`: the value is not the one that was read any more, and is left as it is. */
  replaceSealed(
    name: SealedName,
    replacements: readonly SealedReplacement[],
  ): Promise<readonly ('done' | 'stale')[]>;
}
