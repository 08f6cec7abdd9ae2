/** From a claimed delivery to the request it sends: opened, checked, signed. */
import type { Attempt, Delivery } from '#src/domain/delivery.ts';
import type { TryResult } from '#src/domain/delivery-life.ts';
import { durationMsCeil } from '#src/domain/duration.ts';
import { type Headers, mergeHeaders } from '#src/domain/headers.ts';
import { forbiddenHeader, outboundHeaders } from '#src/domain/outbound.ts';
import { decodeHeaders, decodePayload, type Payload } from '#src/domain/payload.ts';
import { DEFAULT_TIMEOUT_MS } from '#src/domain/profile.ts';
import { payloadPlace, profileHeadersPlace } from '#src/domain/sealed-places.ts';
import type { OutboundRequest } from '#src/ports/egress.ts';
import { type Message, StoreUnavailable } from '#src/ports/store.ts';
import { SigningKeys } from './signing-keys.ts';
import type { EngineWorld } from './world.ts';

export type Composed =
  | { readonly kind: 'request'; readonly request: OutboundRequest; readonly timeoutMs: number }
  /** It cannot be sent: the try ends before it leaves the house. */
  | { readonly kind: 'unsendable'; readonly result: TryResult };

/** What was to be sent could not be read. */
export const UNREADABLE = unsendable('retryable', 'internal error');

const NO_PAYLOAD: Payload = { headers: [], body: null };

export class Composer {
  readonly #world: EngineWorld;
  readonly #keys: SigningKeys;

  constructor(world: EngineWorld) {
    this.#world = world;
    this.#keys = new SigningKeys(world);
  }

  /** Rejects while the store is away. What cannot be read for another reason may be readable at the next try. */
  async compose(delivery: Delivery, attempt: Attempt): Promise<Composed> {
    try {
      return await this.#compose(delivery, attempt);
    } catch (error) {
      if (error instanceof StoreUnavailable) throw error;
      const fields = { delivery: delivery.id, error: String(error) };
      this.#world.log.error(fields, 'a delivery could not be made ready');
      return UNREADABLE;
    }
  }

  async #compose(delivery: Delivery, attempt: Attempt): Promise<Composed> {
    const { store, clock } = this.#world;
    const message = await store.findMessage(delivery);
    const { headers, body: bodyText } = this.#payload(delivery, message);
    const custom = mergeHeaders(this.#profileHeaders(delivery, message), headers);
    const forbidden = forbiddenHeader(custom);
    if (forbidden !== null) return unsendable('terminal', `forbidden header ${shown(forbidden)}`);
    const url = URL.parse(delivery.target.url);
    if (url === null) return unsendable('terminal', 'unreadable URL');

    const keys = await this.#keys.of(delivery.partition);
    // Nothing goes out unsigned.
    if (keys.length === 0) return unsendable('retryable', 'no signing secret');
    const body = bodyText === null ? null : Buffer.from(bodyText, 'utf8');
    const now = clock.now();
    return {
      kind: 'request',
      request: {
        method: delivery.target.method,
        url,
        headers: outboundHeaders({ delivery, attempt, url, custom, body, bodyText, keys, now }),
        body,
      },
      timeoutMs: timeoutMsOf(message),
    };
  }

  #payload({ partition, scheduleId }: Delivery, { payload }: Message): Payload {
    if (payload === null) return NO_PAYLOAD;
    return decodePayload(this.#world.vault.open(payloadPlace(partition, scheduleId), payload));
  }

  #profileHeaders({ partition, target }: Delivery, { profile }: Message): Headers {
    const sealed = profile?.headers ?? null;
    if (sealed === null || target.endpointId === null) return [];
    return decodeHeaders(this.#world.vault.open(profileHeadersPlace(partition, target.endpointId), sealed));
  }
}

const SHOWN_CHARACTERS_MAX = 100;

/** A name may hold anything; values are not shown at all. */
function shown(name: string): string {
  return JSON.stringify(name).slice(0, SHOWN_CHARACTERS_MAX);
}

function unsendable(outcome: 'retryable' | 'terminal', error: string): Composed {
  return { kind: 'unsendable', result: { outcome, statusCode: null, error } };
}

function timeoutMsOf({ profile }: Message): number {
  const timeout = profile?.timeout ?? null;
  return timeout === null ? DEFAULT_TIMEOUT_MS : (durationMsCeil(timeout) ?? DEFAULT_TIMEOUT_MS);
}
