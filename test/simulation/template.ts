/** A database with the projects of several customers. It is made once and copied for each run. */
import { copyFileSync, existsSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bootstrap, createProject } from '#src/control/bootstrap.ts';
import { openSecrets } from '#src/control/secrets.ts';
import { IdMint } from '#src/domain/id.ts';
import { instant } from '#src/domain/instant.ts';
import type { Partition } from '#src/domain/project.ts';
import type { Random } from '#src/ports/system.ts';
import { openForWriting } from '#src/store/sqlite/connection.ts';
import { DATABASE_FILE, openSqlite } from '#src/store/sqlite/open-sqlite.ts';
import { AesVault } from '#src/vault/aes-vault.ts';
import { MASTER_KEY_BYTES } from '#src/vault/master-key.ts';
import { Prng } from '#test/fuzz/prng.ts';
import { VirtualWriter } from './writer.ts';

const SIGNING_SECRET = 'whsec_simulationSIMULATION012345678901';
const OTHER_PROJECTS = ['acme', 'globex'];
/** A Thursday. Daylight saving time ends three days later in Europe and ten days later in America. */
export const START = Date.UTC(2026, 9, 22, 6, 0, 0);

const MASTER_KEY = new Uint8Array(MASTER_KEY_BYTES).fill(7);

/** A directory in memory, where the machine has one. */
export const MEMORY_ROOT = existsSync('/dev/shm') ? '/dev/shm' : tmpdir();

export function seededRandom(prng: Prng): Random {
  return { bytes: (count) => prng.bytes(count) };
}

export function vaultOf(random: Random): AesVault {
  return new AesVault(random, MASTER_KEY);
}

export interface Template {
  /** The busiest customers come first. */
  readonly partitions: readonly Partition[];
  /** The signing secret of each customer. */
  readonly secrets: ReadonlyMap<Partition, string>;
  /** Copies the database into a new directory, which the caller removes. */
  copy(): string;
}

/** The template and its copies are inside `root`, which belongs to the caller. */
export async function makeTemplate(root: string): Promise<Template> {
  const directory = mkdtempSync(join(root, 'template-'));
  const random = seededRandom(new Prng(1));
  const now = instant(START - 60_000);
  const store = await openSqlite({
    directory,
    now,
    exclusive: false,
    durable: false,
    openWriter: async (data) =>
      new VirtualWriter(data, {
        latencies: () => [0, 0],
        outcome: () => 'kept',
        later: (_, act) => queueMicrotask(() => void act()),
        alterSteps: (steps) => steps,
        verbApplied: () => {},
        batchApplied: () => {},
        batchAnswered: () => {},
      }),
  });
  const ids = new IdMint((count) => random.bytes(count));
  const vault = vaultOf(random);
  const control = { store, clock: { now: () => now }, random, ids, vault };
  await bootstrap(control, {
    keys: { test: 'sk_test_simulation0123456789', live: 'sk_live_simulation0123456789' },
    signingSecret: SIGNING_SECRET,
  });
  const project = await store.findProject('default');
  if (project === null) throw new Error('There is no project.');
  const others = [];
  for (const name of OTHER_PROJECTS) others.push(await createProject(control, name));
  const partitions = [
    project.partitions.test,
    project.partitions.live,
    ...others.map((other) => other.partitions.live),
  ];
  const secrets = new Map<Partition, string>();
  for (const partition of partitions) {
    for (const { text } of await openSecrets(control, partition)) secrets.set(partition, text);
  }
  await store.close();
  // Only the database file is copied, so the write-ahead log must be merged into it first.
  const db = openForWriting(join(directory, DATABASE_FILE), false);
  db.pragma('wal_checkpoint(TRUNCATE)');
  db.close();
  return {
    partitions,
    secrets,
    copy() {
      const copied = mkdtempSync(join(root, 'run-'));
      copyFileSync(join(directory, DATABASE_FILE), join(copied, DATABASE_FILE));
      return copied;
    },
  };
}
