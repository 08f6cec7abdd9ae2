/** The control plane on a real store and vault in a temporary directory, with a clock that tests move. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { SealingWorld } from '#src/control/world.ts';
import { IdMint } from '#src/domain/id.ts';
import { type Instant, instant } from '#src/domain/instant.ts';
import { SqliteStore } from '#src/store/sqlite/sqlite-store.ts';
import { systemRandom } from '#src/system/random.ts';
import { AesVault } from '#src/vault/aes-vault.ts';

export const START = instant(Date.UTC(2026, 10, 15, 8));

export interface TestWorld extends SealingWorld, AsyncDisposable {
  readonly store: SqliteStore;
  advance(ms: number): Instant;
}

export async function openTestWorld(): Promise<TestWorld> {
  const directory = mkdtempSync(join(tmpdir(), 'sched-control-'));
  const store = await SqliteStore.open({ directory, now: START, exclusive: true });
  const random = systemRandom();
  let now = START;
  return {
    store,
    random,
    clock: { now: () => now },
    ids: new IdMint((count) => random.bytes(count)),
    vault: new AesVault(random, random.bytes(32)),
    advance: (ms) => {
      now = instant(now + ms);
      return now;
    },
    async [Symbol.asyncDispose]() {
      await store.close();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}
