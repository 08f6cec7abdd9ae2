/** Sends bytes on a socket, for requests that no HTTP client would send. */
import { connect } from 'node:net';

const ANSWER_MS_MAX = 10_000;

/** Returns everything until the service closes the connection. */
export function exchangeBytes(url: string, bytes: string): Promise<string> {
  const { hostname, port } = new URL(url);
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const chunks: Buffer[] = [];
  const socket = connect({ host: hostname, port: Number(port), timeout: ANSWER_MS_MAX });
  socket.on('data', (chunk) => chunks.push(chunk));
  socket.on('timeout', () => socket.destroy(new Error('The connection was not closed.')));
  socket.on('error', reject);
  socket.on('close', () => resolve(Buffer.concat(chunks).toString()));
  socket.write(bytes);
  return promise;
}

export function parseAnswer(text: string): {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
} {
  const [head = '', body = ''] = text.split('\r\n\r\n', 2);
  const [statusLine = '', ...lines] = head.split('\r\n');
  const headers = lines.map((line) => {
    const colon = line.indexOf(':');
    return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()] as const;
  });
  return { status: Number(statusLine.split(' ')[1]), headers: Object.fromEntries(headers), body };
}
