/** Reads files and standard input as a whole, up to a limit. */
import { open } from 'node:fs/promises';
import { messageOf } from '#src/app/failures.ts';
import { wrongUsage } from '#src/cli/failure.ts';

/** The service accepts this much in one request. */
export const INPUT_BYTES_MAX = 1_048_576;

/** `given` is the text itself, `@file`, or `-` for standard input. */
export async function readText(given: string, flag: string): Promise<string> {
  if (given === '-') return decodeUtf8(await readStdin(flag), flag);
  return given.startsWith('@') ? decodeUtf8(await readFile(given.slice(1), flag), flag) : given;
}

export async function readBytes(given: string, flag: string): Promise<Buffer> {
  if (given === '-') return readStdin(flag);
  return given.startsWith('@') ? readFile(given.slice(1), flag) : Buffer.from(given);
}

export async function readFile(path: string, name: string): Promise<Buffer> {
  try {
    await using file = await open(path);
    return await readAll(file.createReadStream({ autoClose: false }), name);
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && 'syscall' in error)) throw error;
    const reason = error.code === 'ENOENT' ? `The file ${path} does not exist` : messageOf(error);
    throw wrongUsage(name === path ? `${reason}.` : `${name}: ${reason}.`);
  }
}

export async function readStdin(name: string): Promise<Buffer> {
  return readAll(process.stdin, name);
}

async function readAll(stream: AsyncIterable<unknown>, name: string): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of stream) {
    const part = Buffer.isBuffer(chunk) ? chunk : Buffer.from(String(chunk));
    bytes += part.length;
    if (bytes > INPUT_BYTES_MAX) throw wrongUsage(`${name} has more than ${INPUT_BYTES_MAX} bytes.`);
    chunks.push(part);
  }
  return Buffer.concat(chunks);
}

function decodeUtf8(bytes: Buffer, name: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw wrongUsage(`${name} must be UTF-8 text.`);
  }
}

/** Reads one secret. A line break at its end is not part of it. */
export async function readSecretFromStdin(name: string): Promise<string> {
  return decodeUtf8(await readStdin(name), name).replace(/\r?\n$/, '');
}

/** Reads secrets from a file, one on each line. */
export async function readSecrets(path: string, name: string): Promise<readonly string[]> {
  return decodeUtf8(await readFile(path, name), name)
    .split(/\r?\n/)
    .filter((line) => line !== '');
}
