/**
 * Encryption at rest. A sealed value is bound to its context, in the form `<scope>/<row>`. A ciphertext that is copied
 * into another row does not open there.
 */
export interface Vault {
  seal(context: string, plain: Uint8Array): Uint8Array;
  open(context: string, sealed: Uint8Array): Uint8Array;
  /** Returns a short hash that is the same for the same text and master key. It does not reveal the text. */
  keyedHash(scope: string, text: string): string;
}

/** The number of leading bytes that name the master key. */
export const SEALED_HEAD_BYTES = 9;

/** A vault that can retire a master key. */
export interface ResealingVault extends Vault {
  /** Returns true when the current master key sealed the value with this head. Nothing is opened. */
  isCurrentKey(head: Uint8Array): boolean;
}

/** The columns that hold sealed values. A column that is missing here would keep a retired master key alive. */
export const SEALED_COLUMN_NAMES = [
  'payloads',
  'earlier_payloads',
  'attempt_responses',
  'profile_headers',
  'signing_secrets',
  'endpoint_secrets',
  'alert_urls',
] as const;
export type SealedColumnName = (typeof SEALED_COLUMN_NAMES)[number];

/** The values of the key columns, in their order. */
export type SealedKey = readonly (string | number)[];

/** A row of such a column, without its value. */
export interface SealedEntry {
  readonly key: SealedKey;
  /** The context that the value is bound to. */
  readonly context: string;
  /** The first `SEALED_HEAD_BYTES` of the value, which name the master key. Null when the row has no value. */
  readonly head: Uint8Array | null;
  /** The size of the value. */
  readonly bytes: number;
}

export interface SealedReplacement {
  readonly key: SealedKey;
  /** The value that was read. */
  readonly was: Uint8Array;
  readonly sealed: Uint8Array;
}

export interface SealedStore {
  /** Lists rows after `after`, in the order of their keys. */
  listSealed(name: SealedColumnName, after: SealedKey | null, limit: number): Promise<readonly SealedEntry[]>;
  /** Returns null when the row is gone or has no value. */
  findSealed(name: SealedColumnName, key: SealedKey): Promise<Uint8Array | null>;
  /** `stale`: the value was changed since it was read, and is left as it is. */
  replaceSealed(
    name: SealedColumnName,
    replacements: readonly SealedReplacement[],
  ): Promise<readonly ('done' | 'stale')[]>;
}
