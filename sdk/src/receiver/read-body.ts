/** The bytes of a body, no more of them than a bound. */

/** 262,144 characters of four bytes: the longest body that Sched sends. */
export const BODY_BYTES_MAX = 1_048_576;

export type ReadBody = Uint8Array | 'too_large';

/** Of a Fetch-style body. What is beyond the bound is left unread. */
export async function readStream(
  stream: ReadableStream<Uint8Array> | null,
  bytesMax: number,
): Promise<ReadBody> {
  if (stream === null) return new Uint8Array();
  const reader = stream.getReader();
  const chunks: Uint8Array[] = [];
  let length = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return concatenate(chunks, length);
    length += value.length;
    if (length > bytesMax) {
      // Not waited for: of a copied stream it ends only when the original is given up too.
      reader.cancel().catch(() => {});
      return 'too_large';
    }
    chunks.push(value);
  }
}

/** A stream as Node has it, in those of its parts that are used here. */
export interface NodeStream {
  readonly readableEnded?: boolean;
  readonly destroyed?: boolean;
  on(event: 'data', listener: (chunk: Uint8Array) => void): unknown;
  on(event: 'end' | 'close', listener: () => void): unknown;
  on(event: 'error', listener: (error: Error) => void): unknown;
  pause(): unknown;
}

const REQUEST_ABORTED = 'The request was broken off before its body had arrived.';

/** Of Node's requests. What is beyond the bound is left unread, and the connection open for an answer. */
export async function readNodeStream(stream: NodeStream, bytesMax: number): Promise<ReadBody> {
  // Neither would be told of again: a parser has seen that there is no body, or nobody waits for an answer.
  if (stream.readableEnded === true) return new Uint8Array();
  if (stream.destroyed === true) throw new Error(REQUEST_ABORTED);
  const chunks: Uint8Array[] = [];
  let length = 0;
  return new Promise((resolve, reject) => {
    stream.on('data', (chunk) => {
      length += chunk.length;
      if (length <= bytesMax) {
        chunks.push(chunk);
        return;
      }
      chunks.length = 0;
      stream.pause();
      resolve('too_large');
    });
    stream.on('end', () => resolve(concatenate(chunks, length)));
    stream.on('error', reject);
    stream.on('close', () => reject(new Error(REQUEST_ABORTED)));
  });
}

function concatenate(chunks: readonly Uint8Array[], length: number): Uint8Array {
  const body = new Uint8Array(length);
  let at = 0;
  for (const chunk of chunks) {
    body.set(chunk, at);
    at += chunk.length;
  }
  return body;
}
