/** Reads the bytes of a body, up to a limit. */

/** The longest body that Sched sends: 262,144 characters of four bytes. */
export const BODY_BYTES_MAX = 1_048_576;

export type ReadBody = Uint8Array | 'too_large';

/** Reads a Fetch-style body. Bytes beyond the limit are left unread. */
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
      // This is not awaited, because the cancel of a cloned stream resolves only when the original is canceled too.
      reader.cancel().catch(() => {});
      return 'too_large';
    }
    chunks.push(value);
  }
}

/** The parts of Node's streams that are used here. */
export interface NodeStream {
  readonly readableEnded?: boolean;
  readonly destroyed?: boolean;
  on(event: 'data', listener: (chunk: Uint8Array) => void): unknown;
  on(event: 'end' | 'close', listener: () => void): unknown;
  on(event: 'error', listener: (error: Error) => void): unknown;
  pause(): unknown;
}

const REQUEST_ABORTED = 'The request was aborted before its body arrived.';

/** Reads a Node request. Bytes beyond the limit are left unread, and the connection stays open for an answer. */
export async function readNodeStream(stream: NodeStream, bytesMax: number): Promise<ReadBody> {
  // No further event would come in these two states: a parser saw that there is no body, or the client is gone.
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
