/** What Express and Fastify share: Node's own requests and responses, in those of their parts that are used here. */
import { headersFrom } from './delivery.ts';
import { type NodeStream, readNodeStream } from './read-body.ts';
import { type Answer, plainly, type Receive } from './receive.ts';

export interface NodeRequest extends NodeStream {
  readonly method?: string | undefined;
  readonly httpVersionMajor?: number | undefined;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
}

export interface NodeAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly json: string | null;
}

/** The reply to a request with this URL. `kept` is its body where somebody has read it before, else null. */
export async function nodeReply(
  receive: Receive<Answer>,
  request: NodeRequest,
  url: string,
  kept: Uint8Array | null,
): Promise<NodeAnswer> {
  const headers = headersFrom(request.headers);
  const read = () => readNodeStream(request, receive.bodyBytesMax);
  const body = kept ?? (receive.saysTooLarge(headers.get('Content-Length')) ? 'too_large' : await read());
  const { status, json } = plainly(await receive.reply({ method: request.method ?? '', url, headers, body }));
  return {
    status,
    headers: {
      ...(json === null ? {} : { 'Content-Type': 'application/json' }),
      // The rest of the body is not waited for. In HTTP/2 the stream ends, and there is no such header.
      ...(body === 'too_large' && (request.httpVersionMajor ?? 1) < 2 ? { Connection: 'close' } : {}),
    },
    json,
  };
}
