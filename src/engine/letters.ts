/**
 * What a delivery sends, whichever of its tries it is: read, opened, checked. A letter never changes, so it may
 * be made ready before its instant; what names the try and signs it is added when it is sent. Large ones take
 * milliseconds each to open: after some of them everything else gets a word in.
 */
import type { Delivery } from '#src/domain/delivery.ts';
import type { TryResult } from '#src/domain/delivery-life.ts';
import { durationMsCeil } from '#src/domain/duration.ts';
import { type Headers, mergeHeaders } from '#src/domain/headers.ts';
import { customerHeaders, forbiddenHeader } from '#src/domain/outbound.ts';
import { decodeHeaders, decodePayload, type Payload } from '#src/domain/payload.ts';
import { DEFAULT_TIMEOUT_MS } from '#src/domain/profile.ts';
import { payloadPlace, profileHeadersPlace } from '#src/domain/sealed-places.ts';
import type { Message } from '#src/ports/store.ts';
import { type EngineWorld, pause } from './world.ts';

export interface Letter {
  readonly kind: 'letter';
  readonly url: URL;
  /** Without the query. */
  readonly path: string;
  /** The customer's. */
  readonly headers: Headers;
  readonly body: Uint8Array | null;
  readonly timeoutMs: number;
}

/** It cannot be sent: the try ends before it leaves the house. */
export interface Unsendable {
  readonly kind: 'unsendable';
  readonly result: TryResult;
}

/** What was to be sent could not be read. */
export const UNREADABLE = unsendable('retryable', 'internal error');

const NO_PAYLOAD: Payload = { headers: [], body: null };
/** Opened in one stretch: about two milliseconds' worth. */
export const STRETCH_BYTES_MAX = 256 * 1_024;

type World = Pick<EngineWorld, 'store' | 'vault' | 'log' | 'timers'>;

export class Letters {
  readonly #world: World;

  constructor(world: World) {
    this.#world = world;
  }

  /** In the order asked for. Rejects while the store is away. */
  async read(deliveries: readonly Delivery[]): Promise<readonly (Letter | Unsendable)[]> {
    const messages = await this.#world.store.findMessages(deliveries);
    const letters: (Letter | Unsendable)[] = [];
    let stretchBytes = 0;
    for (const [index, delivery] of deliveries.entries()) {
      const message = messages[index];
      const bytes = sealedBytesOf(message);
      if (stretchBytes > 0 && stretchBytes + bytes > STRETCH_BYTES_MAX) {
        await pause(this.#world.timers, 0);
        stretchBytes = 0;
      }
      stretchBytes += bytes;
      letters.push(this.#letter(delivery, message));
    }
    return letters;
  }

  /** What cannot be opened now may be at the next try. */
  #letter(delivery: Delivery, message: Message | undefined): Letter | Unsendable {
    try {
      return message === undefined ? UNREADABLE : this.#opened(delivery, message);
    } catch (error) {
      const fields = { delivery: delivery.id, error: String(error) };
      this.#world.log.error(fields, 'a delivery could not be made ready');
      return UNREADABLE;
    }
  }

  #opened(delivery: Delivery, message: Message): Letter | Unsendable {
    const { headers, body } = this.#payload(delivery, message);
    const custom = mergeHeaders(this.#profileHeaders(delivery, message), headers);
    const forbidden = forbiddenHeader(custom);
    if (forbidden !== null) return unsendable('terminal', `forbidden header ${shown(forbidden)}`);
    const url = URL.parse(delivery.target.url);
    if (url === null) return unsendable('terminal', 'unreadable URL');
    return {
      kind: 'letter',
      url,
      path: url.pathname,
      headers: customerHeaders(custom, body),
      body: body === null ? null : Buffer.from(body, 'utf8'),
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

export function unsendable(outcome: 'retryable' | 'terminal', error: string): Unsendable {
  return { kind: 'unsendable', result: { outcome, statusCode: null, error } };
}

function sealedBytesOf(message: Message | undefined): number {
  return (message?.payload?.length ?? 0) + (message?.profile?.headers?.length ?? 0);
}

function timeoutMsOf({ profile }: Message): number {
  const timeout = profile?.timeout ?? null;
  return timeout === null ? DEFAULT_TIMEOUT_MS : (durationMsCeil(timeout) ?? DEFAULT_TIMEOUT_MS);
}
