/**
 * Reads one value of bytes as it is stored. The driver takes every value of an ordinary answer for text, so bytes
 * come as hexadecimal digits: twice as many, and 1.8 ms of work for 768 KB. COPY hands them over as they are.
 */
import { type Client, Query } from 'pg';

/** The signature, the flags and the length of an extension that nobody uses. */
const HEADER_BYTES = 19;
const SIGNATURE = Buffer.from('PGCOPY\n\xff\r\n\0', 'latin1');
const COUNT_BYTES = 2;
const LENGTH_BYTES = 4;
/** It stands for the number of columns behind the last row. */
const END = -1;
const NO_VALUE = -1;

/** The value that the statement selects, of one row and one column; null if there is none. */
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

  /** Each message is one row, the first behind the header. An error that is thrown here would end the process. */
  handleCopyData({ chunk }: { readonly chunk: Buffer }): void {
    try {
      const at = chunk.subarray(0, SIGNATURE.length).equals(SIGNATURE) ? HEADER_BYTES : 0;
      if (chunk.length === at || chunk.readInt16BE(at) === END) return;
      const length = chunk.readInt32BE(at + COUNT_BYTES);
      const start = at + COUNT_BYTES + LENGTH_BYTES;
      // The driver uses the memory of the message again.
      if (length !== NO_VALUE) this.bytes = Buffer.from(chunk.subarray(start, start + length));
    } catch (error) {
      this.failure = new Error('PostgreSQL: a copied value cannot be read.', { cause: error });
    }
  }
}
