/**
 * The receiver for Fetch-style handlers: Deno.serve, Bun.serve, Cloudflare Workers, route handlers of Next.js.
 *
 *     export const POST = receiver({
 *       secret: process.env.SCHED_SIGNING_SECRET ?? '',
 *       deduplicate: new MemoryStore(),
 *       handle: async (delivery) => remind(delivery.json()),
 *     });
 */
import { readStream } from './read-body.ts';
import { type Answer, DeliveryReceiver, type ReceiverOptions } from './receive.ts';
import { fetchReply } from './reply.ts';

export * from './adapters.ts';

export type FetchReceiverOptions = ReceiverOptions<Answer | Response>;

const BODY_USED = 'The body of this request was read before. The receiver must be the first to read it.';

/** Returns a handler that verifies, deduplicates and handles deliveries. */
export function receiver(options: FetchReceiverOptions): (request: Request) => Promise<Response> {
  const deliveries = new DeliveryReceiver(options);
  return async (request) => {
    if (request.bodyUsed) throw new TypeError(BODY_USED);
    return fetchReply(deliveries, request, () => readStream(request.body, deliveries.bodyBytesMax));
  };
}
