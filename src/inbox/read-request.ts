/** Reads a request without the framework, because the signature covers the exact bytes. */
import type { IncomingMessage } from 'node:http';
import type { RawHeaders } from './arrivals.ts';

/** Larger than the body of any delivery. */
export const BODY_BYTES_MAX = 1_048_576;

/** Returns null if the body is too large or incomplete. */
export async function readBody(request: IncomingMessage): Promise<Uint8Array | null> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const chunk of request as AsyncIterable<Buffer>) {
      bytes += chunk.length;
      if (bytes > BODY_BYTES_MAX) return null;
      chunks.push(chunk);
    }
  } catch {
    return null;
  }
  return Buffer.concat(chunks);
}

export function headersOf({ rawHeaders }: IncomingMessage): RawHeaders {
  return rawHeaders.flatMap((name, index) =>
    index % 2 === 0 ? [[name, rawHeaders[index + 1] ?? ''] as const] : [],
  );
}
