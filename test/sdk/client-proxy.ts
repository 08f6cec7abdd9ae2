/**
 * A way to the service that fails as networks and proxies do, request by request.
 *
 *     await using way = await startWay(sched.url, 'lose the answer', 'pass');
 *     const sched = new Sched({ url: way.url, apiKey });
 *
 * Its faults are taken in turn, and the last one stays. Where an answer is lost the service has given it: what was
 * asked for is done, and the client cannot know.
 */
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/**
 * `lose it`: the connection is cut before the service hears of it. `hang`: the service answers, and nobody is told.
 * `stall`: half of the answer's body comes, and no more. Anything else is answered by the way itself.
 */
export type Fault = 'pass' | 'lose it' | 'lose the answer' | 'hang' | 'stall' | Made;

export interface Made {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: string;
}

/** What the client sent, and what the service answered to it; null where it was not asked. */
export interface Passage {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly answered: { readonly status: number; readonly headers: Headers } | null;
}

export interface Way extends AsyncDisposable {
  readonly url: string;
  readonly passages: readonly Passage[];
  /** When the `count`th request has met its fault. */
  met(count: number): Promise<void>;
}

/** In front of the path of every request, as behind a proxy that serves several things. */
export const PREFIX = '/behind/a/prefix';

const HOST = '127.0.0.1';

export async function startWay(target: string, ...faults: readonly Fault[]): Promise<Way> {
  const passages: Passage[] = [];
  const waiting = new Set<() => void>();
  let turns = 0;

  const serve = async (request: IncomingMessage, response: ServerResponse) => {
    const fault = faults[Math.min(turns++, faults.length - 1)] ?? 'pass';
    const body = await bodyOf(request);
    const { method = '', url = '', headers } = request;
    const path = url.startsWith(PREFIX) ? url.slice(PREFIX.length) : url;
    const isAnswered = typeof fault === 'string' && fault !== 'lose it';
    const answer = isAnswered ? await forward(target + path, method, headers, body) : null;
    passages.push({ method, path, headers, answered: answer });
    meet(fault, answer, request, response);
    for (const look of waiting) look();
  };
  const server = createServer((request, response) => {
    response.on('error', () => {});
    serve(request, response).catch(() => request.socket.destroy());
  });
  server.listen(0, HOST);
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;

  return {
    url: `http://${HOST}:${port}`,
    passages,
    met: (count) =>
      new Promise((resolve) => {
        const look = () => {
          if (passages.length < count) return;
          waiting.delete(look);
          resolve();
        };
        waiting.add(look);
        look();
      }),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

interface Forwarded {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Buffer;
}

async function forward(
  url: string,
  method: string,
  headers: IncomingHttpHeaders,
  body: Buffer,
): Promise<Forwarded> {
  const own = ['authorization', 'idempotency-key', 'content-type', 'sched-version'];
  const passed = own.flatMap((name) =>
    headers[name] === undefined ? [] : [[name, String(headers[name])] as const],
  );
  const answer = await fetch(url, {
    method,
    headers: Object.fromEntries(passed),
    body: body.length > 0 ? body : null,
  });
  return { status: answer.status, headers: answer.headers, body: Buffer.from(await answer.arrayBuffer()) };
}

function meet(
  fault: Fault,
  answer: Forwarded | null,
  request: IncomingMessage,
  response: ServerResponse,
): void {
  if (typeof fault !== 'string') {
    response.writeHead(fault.status, fault.headers ?? {}).end(fault.body);
    return;
  }
  if (answer === null || fault === 'lose the answer') {
    request.socket.destroy();
    return;
  }
  if (fault === 'hang') return;
  response.writeHead(answer.status, { ...Object.fromEntries(answer.headers), connection: 'keep-alive' });
  if (fault === 'stall') response.write(answer.body.subarray(0, answer.body.length / 2));
  else response.end(answer.body);
}

async function bodyOf(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}
