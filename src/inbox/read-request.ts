/** A request off the wire, before any framework has made something of it: what was signed are its bytes. */
import type { IncomingMessage } from 'node:http';
import type { RawHeaders } from './arrival.ts';

/** More than any delivery has. */
export const BODY_BYTES_MAX = 1_048_576;

/** Null when it is too large, or broken off. */
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

/** What was sent several times is joined, as in HTTP. */
export function headerOf(headers: RawHeaders, name: string): string | null {
  const wanted = name.toLowerCase();
  const values = headers.filter(([each]) => each.toLowerCase() === wanted).map(([, value]) => value);
  return values.length === 0 ? null : values.join(', ');
}
