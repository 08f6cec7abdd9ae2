/** What the adapters in the style of Fetch share: a request comes in, a response goes out. */
import type { ReadBody } from './read-body.ts';
import { type Answer, plainly, type Receive, type Reply } from './receive.ts';

/** With a body that is read only if the request does not say that it is too long. */
export async function respond(
  receive: Receive<Answer | Response>,
  { method, url, headers }: Request,
  read: () => Promise<ReadBody>,
): Promise<Response> {
  const body = receive.saysTooLarge(headers.get('Content-Length')) ? 'too_large' : await read();
  return responseOf(await receive.reply({ method, url, headers, body }));
}

function responseOf(reply: Reply<Answer | Response>): Response {
  if (reply.kind === 'handled' && reply.answer instanceof Response) return reply.answer;
  const { status, json } = plainly(reply);
  return new Response(json, { status, headers: json === null ? {} : { 'Content-Type': 'application/json' } });
}
