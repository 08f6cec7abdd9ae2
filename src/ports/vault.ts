/**
 * Encryption at rest. What is sealed is bound to its context, the place it belongs to, written as
 * `<scope>/<row>`: a ciphertext copied into another row does not open there.
 */
export interface Vault {
  seal(context: string, plain: Uint8Array): Uint8Array;
  open(context: string, sealed: Uint8Array): Uint8Array;
  /** The hash is short, and the same for the same text and master key. It tells nobody what the text was. */
  keyedHash(scope: string, text: string): string;
}

/** This many leading bytes name the master key. */
export const SEALED_HEAD_BYTES = 9;

/** A vault that can retire a master key. */
export interface ResealingVault extends Vault {
  /** Whether the present master key sealed a value with this head. Nothing is opened. */
  isCurrentKey(head: Uint8Array): boolean;
}

/** The columns that hold sealed values. A column that is missing here would keep a retired master key alive. */
export const SEALED_COLUMN_NAMES = [
  'payloads',
  'profile_headers',
  'signing_secrets',
  'endpoint_secrets',
] as const;
export type SealedColumnName = (typeof SEALED_COLUMN_NAMES)[number];

/** The values of the key columns, in their order. */
export type SealedKey = readonly (string | number)[];

/** A row of such a column, without its value. */
export interface SealedEntry {
  readonly key: SealedKey;
  /** The value is bound to this place. */
  readonly context: string;
  /** The value may still be bound to this place instead: only opening it tells. Null where there is no such place. */
  readonly legacyContext: string | null;
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
  listSealed(name: SealedColumnName, after: SealedKey | null, limit: number): Promise<readonly SealedEntry[]>;
  /** Null when the row is gone, or has none. */
  findSealed(name: SealedColumnName, key: SealedKey): Promise<Uint8Array | null>;
  /** `stale`: the value is not the one that was read any more, and is left as it is. */
  replaceSealed(
    name: SealedColumnName,
    replacements: readonly SealedReplacement[],
  ): Promise<readonly ('done' | 'stale')[]>;
}
