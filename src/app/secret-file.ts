/**
 * Reads a secret that is mounted as a file, as Docker and Kubernetes do. Such files are usually readable by
 * others, because the container protects them, so their mode is not checked. Messages contain neither the
 * path nor the content: an operator who confuses a setting with its file has the secret itself as the path.
 */
import { closeSync, openSync, readSync } from 'node:fs';
import { systemCodeOf } from './failures.ts';

/** A database address and some hundred earlier keys need far less. */
export const SECRET_FILE_BYTES_MAX = 16_384;

/** `wrong` completes a sentence that starts with the name of the setting. */
export interface WrongFile {
  readonly wrong: string;
}

/** Returns the text of the file without a final newline. */
export function readSecretFile(path: string): string | WrongFile {
  let bytes: Buffer;
  try {
    bytes = readUpTo(path, SECRET_FILE_BYTES_MAX + 1);
  } catch (error) {
    return { wrong: `must be a file that can be read (${systemCodeOf(error) ?? 'no system error'})` };
  }
  if (bytes.length > SECRET_FILE_BYTES_MAX) {
    return { wrong: `must be a file of at most ${SECRET_FILE_BYTES_MAX} bytes` };
  }
  const text = bytes.toString('utf8');
  return text.trim() === '' ? { wrong: 'must be a file that is not empty' } : text.replace(/\r?\n$/, '');
}

/** Reading stops at the limit, so a device without an end cannot block. */
function readUpTo(path: string, bytesMax: number): Buffer {
  const file = openSync(path, 'r');
  try {
    const bytes = Buffer.alloc(bytesMax);
    let length = 0;
    for (let read = -1; read !== 0 && length < bytesMax; length += read) {
      read = readSync(file, bytes, length, bytesMax - length, null);
    }
    return bytes.subarray(0, length);
  } finally {
    closeSync(file);
  }
}
