/**
 * The shape of a delivery's request: the names of its headers, and whether it has a body. Both are sealed with the
 * values. They never change for a version, so they are opened once and not with every update of a live page.
 */
import type { Commands } from '#src/commands/command.ts';
import type { Delivery } from '#src/domain/delivery.ts';
import { mergeHeaders } from '#src/domain/headers.ts';
import { customerHeaders } from '#src/domain/outbound-headers.ts';
import { decodeHeaders, decodePayload, NO_PAYLOAD } from '#src/domain/payload.ts';
import { RecentCache } from '#src/domain/recent-cache.ts';
import { payloadContext, profileHeadersContext } from '#src/domain/sealing-contexts.ts';
import type { StoredPayload } from '#src/ports/store.ts';

export interface RequestShape {
  /** The customer's headers in their order, without those that Sched adds. */
  readonly headerNames: readonly string[];
  readonly hasBody: boolean;
}

const SHAPES_MAX = 256;

export class RequestShapes {
  readonly #commands: Pick<Commands, 'store' | 'vault'>;
  readonly #known = new RecentCache<string, RequestShape>(SHAPES_MAX);

  constructor(commands: Pick<Commands, 'store' | 'vault'>) {
    this.#commands = commands;
  }

  /** Null if the request cannot be opened. */
  async get(delivery: Delivery): Promise<RequestShape | null> {
    const { partition, id, payloadVersion, target } = delivery;
    const key = [partition, id, payloadVersion, target.endpointId, target.endpointVersion].join('/');
    const known = this.#known.get(key);
    if (known !== undefined) return known;
    const [stored] = await this.#commands.store.loadPayloads([delivery]);
    const shape = stored === undefined ? null : this.#open(delivery, stored);
    if (shape !== null) this.#known.set(key, shape);
    return shape;
  }

  #open(delivery: Delivery, stored: StoredPayload): RequestShape | null {
    try {
      const { headers, body, isJson } = this.#payload(delivery, stored);
      const isStandard = stored.profile?.standardWebhooks ?? false;
      const merged = mergeHeaders(this.#profileHeaders(delivery, stored), headers);
      const all = customerHeaders(merged, isJson, isStandard);
      return { headerNames: all.map(([name]) => name), hasBody: body !== null };
    } catch {
      // The attempt says so too: it fails, because its request cannot be read.
      return null;
    }
  }

  #payload(delivery: Delivery, { payload }: StoredPayload) {
    const { partition, scheduleId, payloadVersion, payloadBytes } = delivery;
    // The body of a notification is composed when it is sent.
    if (scheduleId === null) return { ...NO_PAYLOAD, body: new Uint8Array(), isJson: true };
    if (payload === null && payloadBytes > 0) throw new Error('The payload is not stored.');
    if (payload === null) return NO_PAYLOAD;
    const context = payloadContext(partition, scheduleId, payloadVersion);
    return decodePayload(this.#commands.vault.open(context, payload));
  }

  #profileHeaders(
    { partition, target: { endpointId, endpointVersion } }: Delivery,
    { profile }: StoredPayload,
  ) {
    const sealed = profile?.headers ?? null;
    if (sealed === null || endpointId === null || endpointVersion === null) return [];
    const context = profileHeadersContext(partition, endpointId, endpointVersion);
    return decodeHeaders(this.#commands.vault.open(context, sealed));
  }
}
