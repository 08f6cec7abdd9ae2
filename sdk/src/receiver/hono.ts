/**
 * The receiver for Hono, on any runtime:
 *
 *     app.all('/hooks/reminder', receiver({ secret, handle: async (delivery) => remind(delivery.json()) }));
 */
import { readStream } from './read-body.ts';
import { type Answer, DeliveryReceiver, type ReceiverOptions } from './receive.ts';
import { fetchReply } from './reply.ts';

export * from './adapters.ts';

/** The parts of Hono's context that are used here. */
export interface HonoContext {
  readonly req: { readonly raw: Request; arrayBuffer(): Promise<ArrayBuffer> };
}

/** Returns a handler that verifies, deduplicates and handles deliveries. */
export function receiver(
  options: ReceiverOptions<Answer | Response>,
): (context: HonoContext) => Promise<Response> {
  const deliveries = new DeliveryReceiver(options);
  return ({ req }) =>
    fetchReply(deliveries, req.raw, async () =>
      // Hono keeps a body that a middleware has read. If it was read as text, the bytes are the same only for UTF-8
      // without a byte order mark. Any other body does not verify then.
      req.raw.bodyUsed
        ? new Uint8Array(await req.arrayBuffer())
        : readStream(req.raw.body, deliveries.bodyBytesMax),
    );
}
