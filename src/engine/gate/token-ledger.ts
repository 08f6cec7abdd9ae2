/**
 * Tokens of gates that were taken, and of which it is not known yet whether they are used.
 *
 * Tokens are reserved one after the other. So a single token cannot be returned: another delivery could then reserve it
 * a second time. But when none of the tokens that were taken together was used, as with a store that is away, all of
 * them are returned.
 */
import type { EndpointRef } from '#src/domain/due-delivery.ts';
import type { Gate } from '#src/domain/gate.ts';
import { endpointRefKey } from '#src/ports/endpoint-cache.ts';
import type { GateCache } from './gate-cache.ts';

interface OpenTokens {
  /** The gate before the first of these tokens was taken. */
  readonly base: Gate;
  open: number;
  areUsed: boolean;
}

/** A gate is pinned as long as one of its tokens is open. */
export class TokenLedger {
  readonly #gates: Pick<GateCache, 'pin' | 'unpin'>;
  readonly #tokens = new Map<string, OpenTokens>();

  constructor(gates: Pick<GateCache, 'pin' | 'unpin'>) {
    this.#gates = gates;
  }

  /** `before` is the gate before the token was taken. */
  take(ref: EndpointRef, before: Gate): void {
    const key = endpointRefKey(ref);
    const tokens = this.#tokens.get(key) ?? { base: before, open: 0, areUsed: false };
    if (tokens.open === 0) this.#gates.pin(ref);
    tokens.open++;
    this.#tokens.set(key, tokens);
  }

  /** Returns the gate to restore the tokens of; null while that is not known, or when a token was used. */
  settle(ref: EndpointRef, wasUsed: boolean): Gate | null {
    const tokens = this.#tokens.get(endpointRefKey(ref));
    if (tokens === undefined) return null;
    tokens.open--;
    tokens.areUsed ||= wasUsed;
    if (tokens.open > 0) return null;
    this.drop(ref);
    return tokens.areUsed ? null : tokens.base;
  }

  /** Forgets the open tokens of a gate. */
  drop(ref: EndpointRef): void {
    if (this.#tokens.delete(endpointRefKey(ref))) this.#gates.unpin(ref);
  }
}
