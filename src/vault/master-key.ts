import {
  closeSync,
  existsSync,
  fstatSync,
  linkSync,
  openSync,
  readFileSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import type { Random } from '#src/ports/system.ts';

export const MASTER_KEY_BYTES = 32;
export const MASTER_KEY_FILE = 'master.key';

/** Parses 32 bytes in base64. Returns null for any other text. */
export function parseMasterKey(text: string): Uint8Array | null {
  const trimmed = text.trim();
  const bytes = Buffer.from(trimmed, 'base64');
  return bytes.length === MASTER_KEY_BYTES && bytes.toString('base64') === trimmed ? bytes : null;
}

const PERMISSIONS = 0o777;
const PERMISSIONS_OF_OTHERS = 0o077;

/** Reads the key in the data directory. The first call creates it, readable only by this user. */
export function masterKeyIn(directory: string, random: Random): Uint8Array {
  const path = join(directory, MASTER_KEY_FILE);
  if (!existsSync(path)) writeNewKey(path, random);
  const key = parseMasterKey(readPrivateFile(path));
  if (key === null) throw new Error(`${path} does not contain a master key (32 bytes in base64).`);
  return key;
}

/** Checks and reads the same open file, so that it cannot be replaced in between. */
function readPrivateFile(path: string): string {
  const file = openSync(path, 'r');
  try {
    const { mode } = fstatSync(file);
    if ((mode & PERMISSIONS_OF_OTHERS) !== 0) {
      const shown = (mode & PERMISSIONS).toString(8).padStart(4, '0');
      throw new Error(`${path} can be read by other users (mode ${shown}). Run chmod 600 ${path}`);
    }
    return readFileSync(file, 'utf8');
  } finally {
    closeSync(file);
  }
}

/** Writes a draft and links it to its name, so the file is always complete. An existing key wins. */
function writeNewKey(path: string, random: Random): void {
  const draft = `${path}.${Buffer.from(random.bytes(8)).toString('hex')}`;
  const text = `${Buffer.from(random.bytes(MASTER_KEY_BYTES)).toString('base64')}\n`;
  writeFileSync(draft, text, { mode: 0o600, flag: 'wx', flush: true });
  try {
    linkSync(draft, path);
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
  } finally {
    unlinkSync(draft);
  }
}
