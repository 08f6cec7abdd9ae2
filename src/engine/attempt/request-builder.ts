/**
 * Builds the request of a delivery in two steps. The draft is the same for every attempt: the payload is read, decrypted
 * and checked, which may happen before the instant. The attempt's headers and signature are added when it is made.
 */
import type { Attempt, Delivery } from '#src/domain/delivery.ts';
import { isOverdue } from '#src/domain/due-delivery.ts';
import { durationMsCeil } from '#src/domain/duration.ts';
import { DEFAULT_TIMEOUT_MS } from '#src/domain/endpoint-profile.ts';
import type { FailureCode } from '#src/domain/failures.ts';
import { type Headers, mergeHeaders } from '#src/domain/headers.ts';
import { customerHeaders, outboundHeaders, traceId, unsendableHeader } from '#src/domain/outbound-headers.ts';
import { decodeHeaders, decodePayload, NO_PAYLOAD, type Payload } from '#src/domain/payload.ts';
import { payloadContext, profileHeadersContext } from '#src/domain/sealing-contexts.ts';
import type { EngineDependencies } from '#src/engine/dependencies.ts';
import type { OutboundRequest } from '#src/ports/egress.ts';
import { type StoredPayload, StoreUnavailable } from '#src/ports/store.ts';
import { NotificationBodies } from './notification-bodies.ts';
import { type Keys, SigningKeys } from './signing-keys.ts';

/** Payloads up to this size are read together; a larger one is read on its own (`claim/large-payloads.ts`). */
export const SMALL_PAYLOAD_BYTES_MAX = 16_384;

export interface Draft {
  readonly kind: 'draft';
  readonly url: URL;
  /** The URL's path, without the query. */
  readonly path: string;
  readonly trace: string;
  /** The customer's headers. */
  readonly headers: Headers;
  readonly body: Uint8Array | null;
  readonly timeoutMs: number;
  /** How many bytes are kept of an answer that is not 2xx. */
  readonly excerptBytesMax: number;
  /** Whether it is signed for Standard Webhooks too. */
  readonly isStandard: boolean;
}

/** The attempt ends before anything leaves the process, because its request cannot be sent. */
export interface Unsendable {
  readonly kind: 'unsendable';
  readonly failure: FailureCode;
  /** The name of the header that cannot be sent. */
  readonly detail?: string;
}

export interface Sendable {
  readonly kind: 'request';
  readonly request: OutboundRequest;
  readonly timeoutMs: number;
}

/** The request could not be read from the store. */
export const UNREADABLE: Unsendable = { kind: 'unsendable', failure: 'request_unreadable' };

export class RequestBuilder {
  readonly #dependencies: EngineDependencies;
  readonly #keys: SigningKeys;
  readonly #notifications: NotificationBodies;
  readonly #excerptBytesMax: number;

  /** `excerptBytesMax` holds where the endpoint profile does not say how much is kept of an answer. */
  constructor(dependencies: EngineDependencies, excerptBytesMax = 0) {
    this.#dependencies = dependencies;
    this.#excerptBytesMax = excerptBytesMax;
    this.#keys = new SigningKeys(dependencies);
    this.#notifications = new NotificationBodies(dependencies);
  }

  /** Returns the drafts in the order of the deliveries. Rejects while the store is away. */
  async drafts(deliveries: readonly Delivery[]): Promise<readonly (Draft | Unsendable)[]> {
    if (deliveries.length === 0) return [];
    const messages = await this.#dependencies.store.loadPayloads(deliveries);
    if (!deliveries.some(isNotification)) {
      return deliveries.map((delivery, index) => this.#draft(delivery, messages[index]));
    }
    const bodies = await this.#notifications.of(deliveries);
    return deliveries.map((delivery, index) =>
      this.#draft(delivery, messages[index], bodies.get(delivery.id) ?? null),
    );
  }

  async draft(delivery: Delivery): Promise<Draft | Unsendable> {
    const [draft = UNREADABLE] = await this.drafts([delivery]);
    return draft;
  }

  /** A payload that cannot be decrypted now may be readable at the next attempt. */
  #draft(
    delivery: Delivery,
    message: StoredPayload | undefined,
    composed: Uint8Array | null = null,
  ): Draft | Unsendable {
    try {
      return message === undefined ? UNREADABLE : this.#opened(delivery, message, composed);
    } catch (error) {
      const fields = { delivery: delivery.id, error: String(error) };
      this.#dependencies.log.error(fields, 'a delivery could not be made ready');
      return UNREADABLE;
    }
  }

  /** `composed`: the body of a notification. */
  #opened(delivery: Delivery, message: StoredPayload, composed: Uint8Array | null): Draft | Unsendable {
    const { headers, body, isJson } =
      composed === null
        ? this.#payload(delivery, message)
        : { headers: NO_PAYLOAD.headers, body: composed, isJson: true };
    const custom = mergeHeaders(this.#profileHeaders(delivery, message), headers);
    const unsendable = unsendableHeader(custom);
    if (unsendable !== null)
      return { kind: 'unsendable', failure: unsendable.fault, detail: shown(unsendable.name) };
    const url = URL.parse(delivery.target.url);
    if (url === null) return { kind: 'unsendable', failure: 'invalid_url' };
    const isStandard = message.profile?.standardWebhooks ?? false;
    return {
      kind: 'draft',
      url,
      path: url.pathname,
      trace: traceId(delivery.id),
      headers: customerHeaders(custom, isJson, isStandard),
      body,
      timeoutMs: timeoutMsOf(message),
      excerptBytesMax: message.profile?.responseExcerpt ?? this.#excerptBytesMax,
      isStandard,
    };
  }

  /** A payload that is missing is not sent as an empty one. */
  #payload(
    { partition, scheduleId, payloadBytes, payloadVersion }: Delivery,
    { payload }: StoredPayload,
  ): Payload {
    if (payload !== null && scheduleId !== null) {
      const context = payloadContext(partition, scheduleId, payloadVersion);
      return decodePayload(this.#dependencies.vault.open(context, payload));
    }
    if (payloadBytes > 0) throw new Error('The payload is not stored.');
    return NO_PAYLOAD;
  }

  #profileHeaders({ partition, target }: Delivery, { profile }: StoredPayload): Headers {
    const sealed = profile?.headers ?? null;
    const { endpointId: id, endpointVersion: version } = target;
    if (sealed === null || id === null || version === null) return [];
    return decodeHeaders(
      this.#dependencies.vault.open(profileHeadersContext(partition, id, version), sealed),
    );
  }

  /**
   * Returns the request at once, or a promise where the signing keys have to be read first. The promise rejects while
   * the store is away. Keys that cannot be read for another reason may be readable at the next attempt.
   */
  finish(
    draft: Draft | Unsendable,
    delivery: Delivery,
    attempt: Attempt,
  ): Sendable | Unsendable | Promise<Sendable | Unsendable> {
    if (draft.kind === 'unsendable') return draft;
    const keys = this.#keys.fresh(delivery);
    if (keys === null) return this.#finishWithKeys(draft, delivery, attempt);
    try {
      return this.#sign(draft, delivery, attempt, keys);
    } catch (error) {
      return this.#unsigned(delivery, error);
    }
  }

  async #finishWithKeys(draft: Draft, delivery: Delivery, attempt: Attempt): Promise<Sendable | Unsendable> {
    try {
      return this.#sign(draft, delivery, attempt, await this.#keys.of(delivery));
    } catch (error) {
      if (error instanceof StoreUnavailable) throw error;
      return this.#unsigned(delivery, error);
    }
  }

  #unsigned({ id }: Delivery, error: unknown): Unsendable {
    this.#dependencies.log.error({ delivery: id, error: String(error) }, 'a delivery could not be signed');
    return UNREADABLE;
  }

  #sign(draft: Draft, delivery: Delivery, attempt: Attempt, keys: Keys): Sendable | Unsendable {
    // A request never goes out unsigned, nor without a signature that its receiver was promised.
    if (keys.all.length === 0) return { kind: 'unsendable', failure: 'no_signing_secret' };
    const { url, path, trace, body, timeoutMs, excerptBytesMax, isStandard } = draft;
    if (isStandard && keys.standard.length === 0)
      return { kind: 'unsendable', failure: 'no_standard_secret' };
    const now = this.#dependencies.clock.now();
    const headers = outboundHeaders({
      delivery,
      attempt,
      path,
      trace,
      headers: draft.headers,
      body,
      keys: keys.all,
      standardKeys: isStandard ? keys.standard : null,
      now,
    });
    const { partition: customer, target } = delivery;
    const { method } = target;
    const isLate = isOverdue(attempt.dueAt, attempt.firedAt);
    const request = { customer, method, url, headers, body, isOverdue: isLate, excerptBytesMax };
    return { kind: 'request', request, timeoutMs };
  }
}

function isNotification({ notificationOf }: Delivery): boolean {
  return notificationOf !== null;
}

const SHOWN_CHARACTERS_MAX = 100;

/** A header's name may hold any character. Its value is never shown. */
function shown(name: string): string {
  return JSON.stringify(name).slice(0, SHOWN_CHARACTERS_MAX);
}

function timeoutMsOf({ profile }: StoredPayload): number {
  const timeout = profile?.timeout ?? null;
  return timeout === null ? DEFAULT_TIMEOUT_MS : (durationMsCeil(timeout) ?? DEFAULT_TIMEOUT_MS);
}
