/**
 * A proxy in front of the service that fails as networks and proxies do, request by request.
 *
 *     await using proxy = await startFaultyProxy(sched.url, 'lose the answer', 'pass');
 *     const sched = new Sched({ url: proxy.url, apiKey });
 *
 * Each request meets the next fault, and the last fault repeats. A lost answer means that the service did the work, but
 * the client cannot know.
 */
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/**
 * `lose the request`: the connection is cut before the service gets the request. `hang`: the service answers, but the
 * answer is not passed on. `stall`: only half of the body is passed on. The proxy itself gives a canned answer.
 */
export type Fault = 'pass' | 'lose the request' | 'lose the answer' | 'hang' | 'stall' | CannedAnswer;

export interface CannedAnswer {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: string;
}

/** A request of the client. `answered` is the answer of the service, or null if it did not get the request. */
export interface ProxiedRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly answered: { readonly status: number; readonly headers: Headers } | null;
}

export interface FaultyProxy extends AsyncDisposable {
  readonly url: string;
  readonly requests: readonly ProxiedRequest[];
  /** Resolves when the fault of request number `count` has been applied. */
  waitForFault(count: number): Promise<void>;
}

/** A prefix that the proxy removes from paths, like a proxy in front of several services. */
export const PREFIX = '/behind/a/prefix';

const HOST = '127.0.0.1';

export async function startFaultyProxy(target: string, ...faults: readonly Fault[]): Promise<FaultyProxy> {
  const requests: ProxiedRequest[] = [];
  const waiting = new Set<() => void>();
  let count = 0;

  const serve = async (request: IncomingMessage, response: ServerResponse) => {
    const fault = faults[Math.min(count++, faults.length - 1)] ?? 'pass';
    const body = await bodyOf(request);
    const { method = '', url = '', headers } = request;
    const path = url.startsWith(PREFIX) ? url.slice(PREFIX.length) : url;
    const isAnswered = typeof fault === 'string' && fault !== 'lose the request';
    const answer = isAnswered ? await forward(target + path, method, headers, body) : null;
    requests.push({ method, path, headers, answered: answer });
    applyFault(fault, answer, request, response);
    for (const check of waiting) check();
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
    requests,
    waitForFault: (count) =>
      new Promise((resolve) => {
        const check = () => {
          if (requests.length < count) return;
          waiting.delete(check);
          resolve();
        };
        waiting.add(check);
        check();
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

function applyFault(
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
