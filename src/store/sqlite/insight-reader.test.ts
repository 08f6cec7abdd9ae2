import { mkdtempSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { instant } from '#src/domain/instant.ts';
import type { Partition } from '#src/domain/project.ts';
import { StoreUnavailable } from '#src/ports/store.ts';
import { START } from '#src/store/contract/builders.ts';
import { migrate, openForWriting } from './connection.ts';
import { InsightReader } from './insight-reader.ts';

const PARTITION = 1 as Partition;

let directory: string;
let path: string;
let asker: InsightReader;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'sched-insight-'));
  path = join(directory, 'insight.db');
  const db = openForWriting(path);
  migrate(db, START);
  db.close();
  asker = new InsightReader(path);
});
afterEach(async () => {
  await asker.close();
  rmSync(directory, { recursive: true, force: true });
});

function ask() {
  return asker.query('gates', PARTITION, 10);
}

test('questions are answered, each with its own answer', async () => {
  const due = asker.query('due', PARTITION, START, instant(START + 3), 1, 10);
  expect(await Promise.all([ask(), due, ask()])).toEqual([[], { counts: [0, 0, 0], isComplete: true }, []]);
});

test('a question that fails is told, and the next one is answered', async () => {
  const tooManySteps = asker.query('due', PARTITION, START, instant(START + 1e9), 1, 10);
  await expect(tooManySteps).rejects.toThrow('A question failed: A window has no more than 10080 steps.');
  expect(await ask()).toEqual([]);
});

test('no more wait than there is room for', async () => {
  const asked = Array.from({ length: 66 }, ask);
  const answers = await Promise.allSettled(asked);
  const refused = answers.filter(({ status }) => status === 'rejected');
  expect(refused).toEqual([answers.at(-1)]);
  await expect(asked.at(-1)).rejects.toThrow(StoreUnavailable);
  expect(await ask()).toEqual([]);
});

test('a thread that cannot go on fails its question, and another is started for the next', async () => {
  const aside = `${path}.aside`;
  renameSync(path, aside);
  await expect(ask()).rejects.toThrow(new StoreUnavailable('The reading thread ended.'));
  renameSync(aside, path);
  expect(await ask()).toEqual([]);
});

test('whoever waits when it is closed is told, and so is whoever comes later', async () => {
  const waiting = [ask(), ask(), ask()].map((asked) => expect(asked).rejects.toThrow('The store is closed.'));
  await asker.close();
  await Promise.all(waiting);
  await expect(ask()).rejects.toThrow(new StoreUnavailable('The store is closed.'));
  await asker.close();
});
