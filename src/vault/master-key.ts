import { readFileSync, writeFileSync } from 'node:fs';
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
  const fresh = Buffer.from(random.bytes(MASTER_KEY_BYTES)).toString('base64');
  try {
    // 'wx' makes it or leaves it: an existing key is never overwritten, whoever was faster.
    writeFileSync(path, `${fresh}\n`, { mode: 0o600, flag: 'wx', flush: true });
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
  }
  const key = parseMasterKey(readFileSync(path, 'utf8'));
  if (key === null) throw new Error(`${path} does not hold a master key (32 bytes in base64).`);
  return key;
}
