import { mkdtempSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { StoreUnavailable } from '#src/ports/store.ts';
import { START } from '#test/store-contract/builders.ts';
import { migrate, openForWriting } from './connection.ts';
import { InsightReader } from './insight-reader.ts';

let directory: string;
let path: string;
let reader: InsightReader;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'sched-insight-'));
  path = join(directory, 'insight.db');
  const db = openForWriting(path);
  migrate(db, START);
  db.close();
  reader = new InsightReader(path);
});
afterEach(async () => {
  await reader.close();
  rmSync(directory, { recursive: true, force: true });
});

function readGates() {
  return reader.query('SELECT endpoint FROM gates WHERE partition = $1 LIMIT $2', 1, 10);
}

test('every query gets its own answer', async () => {
  const sum = reader.query('SELECT $1 + $2 AS sum', 1, 2);
  expect(await Promise.all([readGates(), sum, readGates()])).toEqual([[], [{ sum: 3 }], []]);
});

test('a query that fails rejects its caller, and the next one is answered', async () => {
  const unknown = reader.query('SELECT 1 FROM unknown_table');
  await expect(unknown).rejects.toThrow('A dashboard query failed: no such table: unknown_table.');
  expect(await readGates()).toEqual([]);
});

test('a query is refused when too many are waiting', async () => {
  const sent = Array.from({ length: 66 }, readGates);
  const answers = await Promise.allSettled(sent);
  const refused = answers.filter(({ status }) => status === 'rejected');
  expect(refused).toEqual([answers.at(-1)]);
  await expect(sent.at(-1)).rejects.toThrow(StoreUnavailable);
  expect(await readGates()).toEqual([]);
});

test('a thread that dies fails its query, and the next query starts another thread', async () => {
  const hidden = `${path}.hidden`;
  renameSync(path, hidden);
  await expect(readGates()).rejects.toThrow(new StoreUnavailable('The reading thread ended.'));
  renameSync(hidden, path);
  expect(await readGates()).toEqual([]);
});

test('closing fails the queries that wait and those that come later', async () => {
  const waiting = [readGates(), readGates(), readGates()].map((query) =>
    expect(query).rejects.toThrow('The store is closed.'),
  );
  await reader.close();
  await Promise.all(waiting);
  await expect(readGates()).rejects.toThrow(new StoreUnavailable('The store is closed.'));
  await reader.close();
});
