import { randomFillSync } from 'node:crypto';
import type { Random } from '#src/ports/system.ts';

/** Asking the system for a few bytes costs far more than the bytes: they are fetched in bulk. */
const POOL_BYTES = 8192;

export function systemRandom(): Random {
  const pool = new Uint8Array(POOL_BYTES);
  let used = POOL_BYTES;
  return {
    bytes(count) {
      if (count > POOL_BYTES) return randomFillSync(new Uint8Array(count));
      if (used + count > POOL_BYTES) {
        randomFillSync(pool);
        used = 0;
      }
      const bytes = pool.slice(used, used + count);
      // What was handed out is wiped: the pool never holds a nonce or a key that is in use.
      pool.fill(0, used, used + count);
      used += count;
      return bytes;
    },
  };
}
