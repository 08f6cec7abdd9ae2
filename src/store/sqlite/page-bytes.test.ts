/** SQLite reads the size of a row from its header. A column of a megabyte is not read for it. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { START } from '#test/store-contract/builders.ts';
import { migrate, openForWriting } from './connection.ts';
import { PROFILE_SIZE, SCHEDULE_SIZE } from './reads.ts';

/** SQLite's OPFLAG_BYTELENARG: only the length of the column is needed. */
const LENGTH_ONLY = 0xc0;

interface Instruction {
  readonly opcode: string;
  readonly p5: number;
}

test.for([
  ['a schedule', SCHEDULE_SIZE],
  ['a profile', PROFILE_SIZE],
])('the size of %s is read from the row header', ([, sql = '']) => {
  const directory = mkdtempSync(join(tmpdir(), 'sched-bytes-'));
  const db = openForWriting(join(directory, 'bytes.db'));
  onTestFinished(() => {
    db.close();
    rmSync(directory, { recursive: true, force: true });
  });
  migrate(db, START);
  const parameters = Array.from(sql.matchAll(/\?/g), () => null);
  const program = db.prepare(`EXPLAIN ${sql}`).all(...parameters) as Instruction[];
  const columns = program.filter(({ opcode }) => opcode === 'Column');
  expect(columns).toHaveLength(3);
  expect(columns.filter(({ p5 }) => (p5 & LENGTH_ONLY) !== LENGTH_ONLY)).toEqual([]);
});
