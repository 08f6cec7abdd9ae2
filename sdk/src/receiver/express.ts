/**
 * The receiver for Express:
 *
 *     app.post('/hooks/reminder', receiver({ secret, handle: async (delivery) => remind(delivery.json()) }));
 *
 * It reads the raw body itself, so mount it before `express.json()`. If it must come after the parser, keep the raw
 * bytes: `app.use(express.json({ verify: keepRawBody, limit: '1mb' }))`. The limit is needed because a parser refuses
 * more than 100 kB by default, and Sched sends up to 1 MiB.
 */

import { DeliveryReceiver, type ReceiverOptions } from './receive.ts';
import { type NodeRequest, nodeReply } from './reply.ts';

export * from './adapters.ts';

/** The parts of Express's request that are used here. */
export interface ExpressRequest extends NodeRequest {
  readonly url: string;
  /** The whole path. In a mounted router, `url` lacks the prefix of the router. */
  readonly originalUrl?: string;
  readonly body?: unknown;
  readonly readableDidRead?: boolean;
}

export interface ExpressResponse {
  statusCode: number;
  setHeader(name: string, value: string): unknown;
  end(body?: string): unknown;
}

const RAW_BODY = Symbol.for('@sched/sdk raw body');

/** Keeps the raw body for the receiver. Pass it to a parser: `express.json({ verify: keepRawBody, limit: '1mb' })`. */
export function keepRawBody(request: object, _response: unknown, body: Uint8Array): void {
  Object.defineProperty(request, RAW_BODY, { value: body, configurable: true });
}

/** Returns a handler that verifies, deduplicates and handles deliveries. */
export function receiver(
  options: ReceiverOptions,
): (request: ExpressRequest, response: ExpressResponse, next: (error: unknown) => void) => Promise<void> {
  const deliveries = new DeliveryReceiver(options);
  return async (request, response, next) => {
    try {
      const url = request.originalUrl ?? request.url;
      const { status, headers, json } = await nodeReply(deliveries, request, url, keptBody(request));
      response.statusCode = status;
      for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
      response.end(json ?? undefined);
    } catch (error) {
      // Express 4 ignores rejected promises.
      next(error);
    }
  };
}

/** Returns the raw body if it was read before, or null if the stream is unread. */
function keptBody(request: ExpressRequest): Uint8Array | null {
  const { [RAW_BODY]: kept, rawBody, body } = request as ExpressRequest & Kept;
  // Cloud functions keep the bytes in `rawBody`. `express.raw()` and `express.text()` leave them in `body`.
  for (const each of [kept, rawBody, body]) if (each instanceof Uint8Array) return each;
  if (typeof body === 'string') return new TextEncoder().encode(body);
  if (request.readableDidRead !== true) return null;
  throw new TypeError(
    'A body parser has read this request before the receiver, and the raw bytes are gone. Mount the receiver before ' +
      'the parser, or keep the bytes: express.json({ verify: keepRawBody, limit: "1mb" }).',
  );
}

interface Kept {
  readonly [RAW_BODY]?: unknown;
  readonly rawBody?: unknown;
}
