/**
 * Reads a secret that is mounted as a file, as Docker and Kubernetes do it. Such files are readable by others as a
 * rule, since the container is the wall around them: their mode is not judged. Neither path nor content is ever part
 * of a message: whoever confuses a setting with its file has the secret itself for a path.
 */
import { closeSync, openSync, readSync } from 'node:fs';
import { systemCodeOf } from './failures.ts';

/** Addresses of databases and some hundred earlier keys need far less. */
export const SECRET_FILE_BYTES_MAX = 16_384;

/** Completes a sentence that begins with the setting's name. */
export interface WrongFile {
  readonly wrong: string;
}

/** The text of the file, without a newline at its end. */
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
