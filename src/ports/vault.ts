/**
 * Encryption at rest. What is sealed is bound to its context, the place it belongs to, written as
 * `<scope>/<row>`: a ciphertext copied into another row does not open there.
 */
export interface Vault {
  seal(context: string, plain: Uint8Array): Uint8Array;
  open(context: string, sealed: Uint8Array): Uint8Array;
}
