/** Cryptographically strong in the product, seeded in simulations. */
export interface Random {
  bytes(count: number): Uint8Array;
}
