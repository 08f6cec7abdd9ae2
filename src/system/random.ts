import { randomFillSync } from 'node:crypto';
import type { Random } from '#src/ports/system.ts';

/** Bytes are fetched in bulk, because each call to the system costs far more than the bytes. */
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
      // Returned bytes are wiped, so the pool never contains a nonce or a key that is in use.
      pool.fill(0, used, used + count);
      used += count;
      return bytes;
    },
  };
}
