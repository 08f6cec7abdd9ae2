/** From a claimed delivery to the request it sends: its letter, with what names the try, signed. */
import type { Attempt, Delivery } from '#src/domain/delivery.ts';
import { outboundHeaders } from '#src/domain/outbound.ts';
import type { OutboundRequest } from '#src/ports/egress.ts';
import { StoreUnavailable } from '#src/ports/store.ts';
import { type Letter, Letters, UNREADABLE, type Unsendable, unsendable } from './letters.ts';
import { type Keys, SigningKeys } from './signing-keys.ts';
import type { EngineWorld } from './world.ts';

export interface Sendable {
  readonly kind: 'request';
  readonly request: OutboundRequest;
  readonly timeoutMs: number;
}

export type Composed = Sendable | Unsendable;

export class Composer {
  readonly #world: EngineWorld;
  readonly #letters: Letters;
  readonly #keys: SigningKeys;

  constructor(world: EngineWorld) {
    this.#world = world;
    this.#letters = new Letters(world);
    this.#keys = new SigningKeys(world);
  }

  /** In the order asked for. Rejects while the store is away. */
  read(deliveries: readonly Delivery[]): Promise<readonly (Letter | Unsendable)[]> {
    return this.#letters.read(deliveries);
  }

  /** Rejects while the store is away. What cannot be read for another reason may be readable at the next try. */
  async compose(delivery: Delivery, attempt: Attempt): Promise<Composed> {
    const [letter = UNREADABLE] = await this.read([delivery]);
    return this.finish(letter, delivery, attempt);
  }

  /** At once, unless the keys have to be read; then as `compose`. */
  finish(letter: Letter | Unsendable, delivery: Delivery, attempt: Attempt): Composed | Promise<Composed> {
    if (letter.kind === 'unsendable') return letter;
    const keys = this.#keys.fresh(delivery.partition);
    if (keys === null) return this.#finishWithKeys(letter, delivery, attempt);
    try {
      return this.#sign(letter, delivery, attempt, keys);
    } catch (error) {
      return this.#unsigned(delivery, error);
    }
  }

  async #finishWithKeys(letter: Letter, delivery: Delivery, attempt: Attempt): Promise<Composed> {
    try {
      return this.#sign(letter, delivery, attempt, await this.#keys.of(delivery.partition));
    } catch (error) {
      if (error instanceof StoreUnavailable) throw error;
      return this.#unsigned(delivery, error);
    }
  }

  #unsigned({ id }: Delivery, error: unknown): Unsendable {
    this.#world.log.error({ delivery: id, error: String(error) }, 'a delivery could not be signed');
    return UNREADABLE;
  }

  #sign(letter: Letter, delivery: Delivery, attempt: Attempt, keys: Keys): Composed {
    // Nothing goes out unsigned.
    if (keys.length === 0) return unsendable('retryable', 'no signing secret');
    const { url, path, body, timeoutMs } = letter;
    const now = this.#world.clock.now();
    const headers = outboundHeaders({ delivery, attempt, path, headers: letter.headers, body, keys, now });
    return { kind: 'request', request: { method: delivery.target.method, url, headers, body }, timeoutMs };
  }
}
