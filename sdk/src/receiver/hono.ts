/**
 * For Hono, on any runtime:
 *
 *     app.all('/hooks/reminder', receiver({ secret, handle: async (delivery) => remind(delivery.json()) }));
 */
import { readStream } from './read-body.ts';
import { type Answer, DeliveryReceiver, type ReceiverOptions } from './receive.ts';
import { fetchReply } from './reply.ts';

export * from './adapters.ts';

/** Of Hono's context what is used here. */
export interface HonoContext {
  readonly req: { readonly raw: Request; arrayBuffer(): Promise<ArrayBuffer> };
}

export function receiver(
  options: ReceiverOptions<Answer | Response>,
): (context: HonoContext) => Promise<Response> {
  const receive = new DeliveryReceiver(options);
  return ({ req }) =>
    fetchReply(receive, req.raw, async () =>
      // What a middleware has read through Hono, it has kept. Read as text, it is the same bytes again only if
      // they were UTF-8 without a byte order mark: anything else does not verify.
      req.raw.bodyUsed
        ? new Uint8Array(await req.arrayBuffer())
        : readStream(req.raw.body, receive.bodyBytesMax),
    );
}
