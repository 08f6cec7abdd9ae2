import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import {
  accessSync,
  chmodSync,
  constants,
  cpSync,
  mkdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { describe, expect, test } from 'vitest';
import { runCommand, startInThread } from './run-command.ts';
import { runSched, startSched, temporaryDirectory } from './sched-process.ts';
import { IS_POSTGRES } from './store-in-use.ts';

/**
 * Runs a start that must fail with exit code 1 and exactly one line, and returns the line. With `runSched` the start is
 * a process. Each stage of a start has one such test: it shows that nothing keeps the process alive.
 */
async function failedStart(
  dataDir: string,
  env: Readonly<Record<string, string>> = {},
  run = runCommand,
): Promise<string> {
  const { code, stderr, stdout } = await run(['serve'], { dataDir, env: { SCHED_PORT: '0', ...env } });
  expect(stderr).toMatch(/^sched: .+\n$/);
  expect(code).toBe(1);
  expect(stdout).not.toContain('listens');
  return stderr;
}

let used: Promise<string> | null = null;

/** A data directory that a service has used. A copy costs less than a start. PostgreSQL cannot be copied like this. */
async function usedDirectory(): Promise<string> {
  if (IS_POSTGRES) return useDirectory();
  used ??= useDirectory();
  const copy = temporaryDirectory();
  cpSync(await used, copy, { recursive: true });
  return copy;
}

async function useDirectory(): Promise<string> {
  const dataDir = temporaryDirectory();
  expect(await runCommand(['serve'], { dataDir, env: { SCHED_PORT: '0' } })).toMatchObject({ code: 0 });
  return dataDir;
}

describe('the address', () => {
  test('a port that is taken', async () => {
    const other = createServer().listen(0, '127.0.0.1');
    await once(other, 'listening');
    const address = other.address();
    const port = typeof address === 'object' ? String(address?.port) : '';
    const dataDir = temporaryDirectory();
    const taken = await runSched(['serve', '--port', port], { dataDir });
    other.close();
    expect(taken.code).toBe(1);
    expect(taken.stderr).toMatch(new RegExp(`^sched: Port ${port} of 127\\.0\\.0\\.1 is in use.*\\n$`));

    // The generated keys were printed, and stay valid for the next start.
    const key = /sk_test_\w+/.exec(taken.stdout)?.[0];
    await using sched = await startInThread({ dataDir });
    const answer = await fetch(`${sched.url}/v1/schedules`, { headers: { authorization: `Bearer ${key}` } });
    expect(answer.status).toBe(200);
  });

  test('a host that does not belong to this machine', async () => {
    expect(await failedStart(temporaryDirectory(), { SCHED_HOST: '203.0.113.7' })).toContain('SCHED_HOST');
    expect(await failedStart(temporaryDirectory(), { SCHED_HOST: 'no.such.host.invalid' })).toContain(
      'SCHED_HOST',
    );
  });
});

// PostgreSQL does not use the data directory.
describe.skipIf(IS_POSTGRES)('the data directory', () => {
  test('below a file', async () => {
    const file = join(temporaryDirectory(), 'file');
    writeFileSync(file, '');
    expect(await failedStart(join(file, 'data'))).toMatch(/data directory .* cannot be created/);
  });

  test('a file itself', async () => {
    const file = join(temporaryDirectory(), 'file');
    writeFileSync(file, '');
    expect(await failedStart(file)).toMatch(/is not a directory/);
  });

  test('not writable', async () => {
    const directory = join(temporaryDirectory(), 'data');
    mkdirSync(directory);
    const undo = makeReadOnly(directory);
    try {
      // Nothing can be tested if this user may write everywhere, such as root on some file systems.
      if (isWritable(directory)) return;
      expect(await failedStart(directory)).toMatch(/data directory .* is not writable/);
    } finally {
      undo();
    }
  });

  test('in use by another Sched, which is not disturbed', async () => {
    await using first = await startSched();
    expect(await failedStart(first.dataDir)).toMatch(/in use by another Sched/);
    expect((await fetch(`${first.url}/readyz`)).status).toBe(200);
    await first.kill();
    await using next = await startInThread({ dataDir: first.dataDir });
    expect((await fetch(`${next.url}/readyz`)).status).toBe(200);
  });
});

// These are files. The tests of the PostgreSQL store cover its databases.
describe.skipIf(IS_POSTGRES)('the database', () => {
  test('of a newer version', async () => {
    const dataDir = await usedDirectory();
    const db = new Database(join(dataDir, 'sched.db'));
    db.pragma('user_version = 9999');
    db.close();
    expect(await failedStart(dataDir, {}, runSched)).toMatch(/schema version 9999.*newer Sched/);
  });

  test('of another program, which stays unchanged', async () => {
    const dataDir = temporaryDirectory();
    const db = new Database(join(dataDir, 'sched.db'));
    db.exec('CREATE TABLE theirs (id INTEGER)');
    db.close();
    expect(await failedStart(dataDir)).toMatch(/belongs to another program/);
    const tables = new Database(join(dataDir, 'sched.db'))
      .prepare('SELECT name FROM sqlite_schema')
      .pluck()
      .all();
    expect(tables).toEqual(['theirs']);
  });

  test('a file that is not a database, which stays unchanged', async () => {
    const dataDir = temporaryDirectory();
    const text = 'this is not a database, but long enough to look at '.repeat(100);
    writeFileSync(join(dataDir, 'sched.db'), text);
    expect(await failedStart(dataDir)).toMatch(/not a database/);
    expect(readFileSync(join(dataDir, 'sched.db'), 'utf8')).toBe(text);
  });
});

describe('the master key', () => {
  test('a different one than the data was sealed with', async () => {
    const dataDir = await usedDirectory();
    const SCHED_MASTER_KEY = randomBytes(32).toString('base64');
    const line = await failedStart(dataDir, { SCHED_MASTER_KEY }, runSched);
    expect(line).toContain('SCHED_MASTER_KEY does not match the key this data was sealed with');
    expect(line).not.toContain(SCHED_MASTER_KEY);
  });

  // With PostgreSQL it always comes from the settings.
  test.skipIf(IS_POSTGRES)('a new one together with the old one is accepted', async () => {
    const dataDir = await usedDirectory();
    const env = {
      SCHED_MASTER_KEY: randomBytes(32).toString('base64'),
      SCHED_MASTER_KEY_PREVIOUS: readFileSync(join(dataDir, 'master.key'), 'utf8').trim(),
    };
    await using sched = await startInThread({ dataDir, env });
    expect((await fetch(`${sched.url}/readyz`)).status).toBe(200);
  });

  test.skipIf(IS_POSTGRES)('a missing file: no new key is generated', async () => {
    const dataDir = await usedDirectory();
    rmSync(join(dataDir, 'master.key'));
    expect(await failedStart(dataDir)).toMatch(/master\.key is missing/);
    expect(() => accessSync(join(dataDir, 'master.key'))).toThrow(/ENOENT/);
  });

  test.skipIf(IS_POSTGRES)('a damaged file', async () => {
    const dataDir = await usedDirectory();
    writeFileSync(join(dataDir, 'master.key'), 'spoiled\n');
    expect(await failedStart(dataDir)).toMatch(/master\.key does not contain a master key/);
  });

  test.skipIf(IS_POSTGRES).each(['0640', '0604', '0620'])(
    'a file that other users may read: mode %s, until its mode is corrected as the line says',
    async (mode) => {
      const dataDir = await usedDirectory();
      const path = join(dataDir, 'master.key');
      chmodSync(path, Number.parseInt(mode, 8));
      const line = await failedStart(dataDir);
      expect(line).toContain(`can be read by other users (mode ${mode}). Run chmod 600 ${path}\n`);
      expect(line).not.toContain(readFileSync(path, 'utf8').trim());
      const secrets = await runCommand(['secret', 'show', '--mode', 'test'], { dataDir });
      expect({ code: secrets.code, stderr: secrets.stderr }).toEqual({ code: 1, stderr: line });
      chmodSync(path, 0o600);
      await using sched = await startInThread({ dataDir });
      expect((await fetch(`${sched.url}/readyz`)).status).toBe(200);
    },
  );
});

/** Permissions do not restrict root. The immutable flag does, if the file system supports it. */
function makeReadOnly(directory: string): () => void {
  chmodSync(directory, 0o500);
  const chattr = (flag: string) => {
    try {
      execFileSync('chattr', [flag, directory], { stdio: 'ignore' });
    } catch {
      // There is no chattr, or the file system has no flags.
    }
  };
  chattr('+i');
  return () => {
    chattr('-i');
    chmodSync(directory, 0o700);
  };
}

function isWritable(directory: string): boolean {
  try {
    accessSync(directory, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}
