/** The control plane on a real store and vault in a temporary directory, with a clock that tests move. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { PeopleDependencies, SealingDependencies } from '#src/control/dependencies.ts';
import { FailedLoginLog } from '#src/control/failed-login-log.ts';
import { LoginThrottle } from '#src/control/login-throttle.ts';
import { type Cost, Passwords } from '#src/control/passwords.ts';
import { IdMint } from '#src/domain/id.ts';
import { type Instant, instant } from '#src/domain/instant.ts';
import type { Log } from '#src/ports/telemetry.ts';
import type { SqlStore } from '#src/store/sql/sql-store.ts';
import { DirectWriter } from '#src/store/sqlite/direct-writer.ts';
import { openSqlite } from '#src/store/sqlite/open-sqlite.ts';
import type { OpenWriter } from '#src/store/sqlite/writer.ts';
import { systemRandom } from '#src/system/random.ts';
import { AesVault } from '#src/vault/aes-vault.ts';

export const START = instant(Date.UTC(2026, 10, 15, 8));

/** A cost that makes hashing fast. */
export const CHEAP: Cost = { memoryKib: 8, passes: 1, parallelism: 1 };

export interface ControlHarness extends SealingDependencies, PeopleDependencies, AsyncDisposable {
  readonly directory: string;
  readonly store: SqlStore;
  advance(ms: number): Instant;
}

export const SILENT: Log = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };

/** A log that collects lines of JSON. */
export function logTo(lines: string[]): Log {
  const note =
    (level: string): Log['info'] =>
    (fields, message) => {
      lines.push(JSON.stringify({ level, ...fields, message }));
    };
  return { debug: note('debug'), info: note('info'), warn: note('warn'), error: note('error') };
}

export async function openControlHarness(): Promise<ControlHarness> {
  const directory = mkdtempSync(join(tmpdir(), 'sched-control-'));
  // A writer in this thread saves the start of another one.
  const openWriter: OpenWriter = async (data) => new DirectWriter(data);
  const store = await openSqlite({
    directory,
    now: START,
    exclusive: true,
    durable: false,
    openWriter,
  });
  const random = systemRandom();
  let now = START;
  const clock = { now: () => now };
  const ids = new IdMint((count) => random.bytes(count));
  const vault = new AesVault(random, random.bytes(32));
  return {
    directory,
    store,
    random,
    clock,
    failedLogins: new FailedLoginLog({ store, clock, ids, vault, log: SILENT }),
    passwords: new Passwords(random, CHEAP),
    throttle: new LoginThrottle(store.people, clock),
    ids,
    vault,
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
