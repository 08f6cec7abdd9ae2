/**
 * Reads one binary value. In an ordinary result the driver gets bytes as hexadecimal text, which is twice as long
 * and takes 1.8 ms for 768 KB. COPY sends the bytes as they are.
 */
import { type Client, Query } from 'pg';

/** The signature, the flags and the length of an extension area that is empty. */
const HEADER_BYTES = 19;
const SIGNATURE = Buffer.from('PGCOPY\n\xff\r\n\0', 'latin1');
const COUNT_BYTES = 2;
const LENGTH_BYTES = 4;
/** Follows the last row, where the number of columns would be. */
const END = -1;
const NO_VALUE = -1;

/** Returns the value that the statement selects, from one row with one column; null if there is none. */
export function copyOut(client: Client, sql: string): Promise<Buffer | null> {
  return new Promise((resolve, reject) => {
    const value = new CopiedValue(`COPY (${sql}) TO STDOUT (FORMAT binary)`, (error) => {
      const failure = error ?? value.failure;
      if (failure === null) resolve(value.bytes);
      else reject(failure);
    });
    client.query(value);
  });
}

class CopiedValue extends Query {
  bytes: Buffer | null = null;
  failure: Error | null = null;

  /** Each message is one row; the header comes before the first. An error thrown here would end the process. */
  handleCopyData({ chunk }: { readonly chunk: Buffer }): void {
    try {
      const at = chunk.subarray(0, SIGNATURE.length).equals(SIGNATURE) ? HEADER_BYTES : 0;
      if (chunk.length === at || chunk.readInt16BE(at) === END) return;
      const length = chunk.readInt32BE(at + COUNT_BYTES);
      const start = at + COUNT_BYTES + LENGTH_BYTES;
      // The driver reuses the memory of the message.
      if (length !== NO_VALUE) this.bytes = Buffer.from(chunk.subarray(start, start + length));
    } catch (error) {
      this.failure = new Error('PostgreSQL: the result of COPY cannot be decoded.', { cause: error });
    }
  }
}
