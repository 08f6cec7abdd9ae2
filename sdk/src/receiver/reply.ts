/** Turns the reply to a delivery into a response: of Node for Express and Fastify, of Fetch for the others. */
import { headersFrom } from './delivery.ts';
import { type NodeStream, type ReadBody, readNodeStream } from './read-body.ts';
import { type Answer, type DeliveryReceiver, type Reply, toPlainReply } from './receive.ts';

/** The parts of Node's request that are used here. */
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

/** `keptBody` is the raw body if another part of the program has read it before, otherwise null. */
export async function nodeReply(
  receiver: DeliveryReceiver<Answer>,
  request: NodeRequest,
  url: string,
  keptBody: Uint8Array | null,
): Promise<NodeAnswer> {
  const headers = headersFrom(request.headers);
  const read = () => readNodeStream(request, receiver.bodyBytesMax);
  const body = keptBody ?? (await readUnlessTooLarge(receiver, headers, read));
  const reply = await receiver.reply({ method: request.method ?? '', url, headers, body });
  const { status, json } = toPlainReply(reply);
  return {
    status,
    headers: {
      ...(json === null ? {} : { 'Content-Type': 'application/json' }),
      // The rest of the body is not read. In HTTP/2 the stream ends by itself, and this header is not allowed.
      ...(body === 'too_large' && (request.httpVersionMajor ?? 1) < 2 ? { Connection: 'close' } : {}),
    },
    json,
  };
}

export async function fetchReply(
  receiver: DeliveryReceiver<Answer | Response>,
  { method, url, headers }: Request,
  read: () => Promise<ReadBody>,
): Promise<Response> {
  const body = await readUnlessTooLarge(receiver, headers, read);
  return toResponse(await receiver.reply({ method, url, headers, body }));
}

async function readUnlessTooLarge(
  receiver: DeliveryReceiver<Answer | Response>,
  headers: Headers,
  read: () => Promise<ReadBody>,
): Promise<ReadBody> {
  return receiver.declaresTooLarge(headers.get('Content-Length')) ? 'too_large' : read();
}

function toResponse(reply: Reply<Answer | Response>): Response {
  if (reply.kind === 'handled' && reply.answer instanceof Response) return reply.answer;
  const { status, json } = toPlainReply(reply);
  return new Response(json, { status, headers: json === null ? {} : { 'Content-Type': 'application/json' } });
}
