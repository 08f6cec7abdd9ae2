/** Runs the deduplication stores of docs/verifying.md, unchanged, against the rules for stores. */
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { Pool } from 'pg';
import { describe, expect, it } from 'vitest';
import type { DeduplicationStore } from '#sdk/receiver/index.ts';
import { createDatabase } from '#test/postgres/databases.ts';
import { sharedPostgres } from '#test/postgres/shared.ts';
import { temporaryDirectory } from '#test/process/sched-process.ts';

const PAGE = readFileSync(join(import.meta.dirname, '../../docs/verifying.md'), 'utf8');

function blockOf(name: string): string {
  return PAGE.split(`\`\`\`ts\n// ${name}`)[1]?.split('```')[0] ?? '';
}

/** The code block as a function of its database client. */
async function shown(name: string, client: string, value: unknown): Promise<DeduplicationStore> {
  const file = join(temporaryDirectory(), 'store.mts');
  writeFileSync(file, `export function make(${client}: any) {\n//${blockOf(name)}\nreturn store;\n}\n`);
  const module = (await import(pathToFileURL(file).href)) as { make(client: unknown): DeduplicationStore };
  return module.make(value);
}

async function expectStore(store: DeduplicationStore): Promise<void> {
  const begun = await Promise.all(Array.from({ length: 20 }, async () => store.begin('a')));
  expect(begun.filter((each) => each === 'new')).toHaveLength(1);
  expect(begun.filter((each) => each === 'in_progress')).toHaveLength(19);
  expect(await store.begin('b')).toBe('new');
  await store.done('a');
  expect(await store.begin('a')).toBe('done');
  await store.forget('b');
  expect(await store.begin('b')).toBe('new');
}

/** The three Redis commands that the store uses, with their answers. */
class FakeRedis {
  readonly kept = new Map<string, { readonly value: string; readonly seconds: number }>();

  async set(key: string, value: string, { NX = false, EX }: { NX?: boolean; EX: number }) {
    if (NX && this.kept.has(key)) return null;
    this.kept.set(key, { value, seconds: EX });
    return 'OK';
  }

  async get(key: string) {
    return this.kept.get(key)?.value ?? null;
  }

  async del(key: string) {
    return this.kept.delete(key) ? 1 : 0;
  }
}

describe.concurrent('the stores of docs/verifying.md', () => {
  it('Redis', async () => {
    const redis = new FakeRedis();
    await expectStore(await shown('Redis', 'redis', redis));
    expect(Object.fromEntries(redis.kept)).toEqual({
      'sched:a': { value: 'done', seconds: 86_400 },
      'sched:b': { value: 'in_progress', seconds: 300 },
    });
  });

  it('PostgreSQL', async () => {
    await using database = await createDatabase(await sharedPostgres());
    const pool = new Pool({ connectionString: database.url });
    const closed: Promise<unknown>[] = [];
    pool.on('connect', (client) => closed.push(once(client, 'end')));
    try {
      const [table = ''] = /CREATE TABLE handled .*/.exec(blockOf('PostgreSQL')) ?? [];
      await pool.query(table);
      const store = await shown('PostgreSQL', 'pool', pool);
      await expectStore(store);
      // A process that died left a key in progress. Done keys stay done.
      await pool.query(`UPDATE handled SET since = now() - interval '6 minutes'`);
      expect(await store.begin('b')).toBe('new');
      expect(await store.begin('b')).toBe('in_progress');
      expect(await store.begin('a')).toBe('done');
    } finally {
      await pool.end();
      // The pool does not wait for its connections, and the database must not be dropped while they are open.
      await Promise.all(closed);
    }
  });
});
