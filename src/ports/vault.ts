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
  isPresent(head: Uint8Array): boolean;
}
