import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Random } from '#src/ports/random.ts';
import { MASTER_KEY_BYTES } from './aes-vault.ts';

export const MASTER_KEY_FILE = 'master.key';

/** 32 bytes in base64; null when the text is anything else. */
export function parseMasterKey(text: string): Uint8Array | null {
  const trimmed = text.trim();
  const bytes = Buffer.from(trimmed, 'base64');
  return bytes.length === MASTER_KEY_BYTES && bytes.toString('base64') === trimmed ? bytes : null;
}

/** The key kept in the data directory, made there the first time, for nobody else to read. */
export function masterKeyIn(directory: string, random: Random): Uint8Array {
  const path = join(directory, MASTER_KEY_FILE);
  if (!existsSync(path)) {
    const text = `${Buffer.from(random.bytes(MASTER_KEY_BYTES)).toString('base64')}\n`;
    // 'wx': when another process was faster, its key is the one.
    writeFileSync(path, text, { mode: 0o600, flag: 'wx', flush: true });
  }
  const key = parseMasterKey(readFileSync(path, 'utf8'));
  if (key === null) throw new Error(`${path} does not hold a master key (32 bytes in base64).`);
  return key;
}
