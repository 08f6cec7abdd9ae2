/**
 * For Express:
 *
 *     app.post('/hooks/reminder', receiver({ secret, handle: async (delivery) => remind(delivery.json()) }));
 *
 * It reads the raw body itself, and so belongs in front of `express.json()`. Behind it the bytes are gone,
 * unless they were kept: `app.use(express.json({ verify: keepRawBody, limit: '1mb' }))`. A parser refuses more
 * than 100 kB unless it is told otherwise; Sched sends up to 1 MiB.
 */

import { DeliveryReceiver, type ReceiverOptions } from './receive.ts';
import { type NodeRequest, nodeReply } from './reply.ts';

export * from './adapters.ts';

/** Of Express's request what is used here. */
export interface ExpressRequest extends NodeRequest {
  readonly url: string;
  /** Where a router is mounted, `url` is without its prefix. */
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

/** For body parsers: `express.json({ verify: keepRawBody, limit: '1mb' })`. */
export function keepRawBody(request: object, _response: unknown, body: Uint8Array): void {
  Object.defineProperty(request, RAW_BODY, { value: body, configurable: true });
}

export function receiver(
  options: ReceiverOptions,
): (request: ExpressRequest, response: ExpressResponse, next: (error: unknown) => void) => Promise<void> {
  const receive = new DeliveryReceiver(options);
  return async (request, response, next) => {
    try {
      const url = request.originalUrl ?? request.url;
      const { status, headers, json } = await nodeReply(receive, request, url, keptBody(request));
      response.statusCode = status;
      for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
      response.end(json ?? undefined);
    } catch (error) {
      // Express 4 does not look at promises.
      next(error);
    }
  };
}

/** Null where it is still to be read. */
function keptBody(request: ExpressRequest): Uint8Array | null {
  const { [RAW_BODY]: kept, rawBody, body } = request as ExpressRequest & Kept;
  // The name under which cloud functions keep it; what `express.raw()` leaves; what `express.text()` leaves.
  for (const each of [kept, rawBody, body]) if (each instanceof Uint8Array) return each;
  if (typeof body === 'string') return new TextEncoder().encode(body);
  if (request.readableDidRead !== true) return null;
  throw new TypeError(
    'A body parser has read this request before the receiver of deliveries, and its raw bytes are gone. Mount ' +
      'the receiver before the parser, or keep them: express.json({ verify: keepRawBody, limit: "1mb" }).',
  );
}

interface Kept {
  readonly [RAW_BODY]?: unknown;
  readonly rawBody?: unknown;
}
