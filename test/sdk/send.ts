/** Sends requests with Node's own client, which allows a GET with a body and a body without a length. */
import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import type { Method } from '#src/domain/destination.ts';
import { type Signing, signedHeaders } from './signing.ts';

export interface Sending extends Signing {
  /** The values that arrive instead of the signed ones. */
  readonly arrives?: { readonly url?: string; readonly method?: Method; readonly body?: string | Uint8Array };
  readonly headers?: Readonly<Record<string, string>>;
  readonly isChunked?: boolean;
}

export interface Answered {
  readonly status: number;
  readonly text: string;
}

export async function send(port: number, sending: Sending = {}): Promise<Answered> {
  const { arrives = {}, headers = {}, isChunked = false } = sending;
  const body = Buffer.from(arrives.body ?? sending.body ?? '');
  const length = isChunked ? { 'Transfer-Encoding': 'chunked' } : { 'Content-Length': `${body.length}` };
  const outgoing = request({
    host: '127.0.0.1',
    port,
    method: arrives.method ?? sending.method ?? 'POST',
    path: arrives.url ?? sending.path ?? '/hook',
    headers: { ...signedHeaders(sending), ...length, ...headers },
    agent: false,
  });
  // The connection may close after the answer if the server does not read the whole body.
  outgoing.on('error', () => {});
  outgoing.end(body);
  const [response] = (await once(outgoing, 'response')) as [IncomingMessage];
  let text = '';
  response.setEncoding('utf8').on('data', (chunk: string) => {
    text += chunk;
  });
  await once(response, 'close');
  return { status: response.statusCode ?? 0, text };
}
