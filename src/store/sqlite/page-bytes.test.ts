/** SQLite reads the size of a row from its header. A column of a megabyte is not read for it. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import type { Partition } from '#src/domain/project.ts';
import { lists } from '#src/store/sql/lists.ts';
import type { QueryParameter } from '#src/store/sql/query.ts';
import { START } from '#test/store-contract/builders.ts';
import { ALL_SCHEDULES } from '#test/store-contract/everything.ts';
import { migrate, openForWriting } from './connection.ts';
import { SqliteReader } from './prepared-queries.ts';
import { SYNTAX } from './syntax.ts';

type Lists = ReturnType<typeof lists>;

/** SQLite's OPFLAG_BYTELENARG: only the length of the column is needed. */
const LENGTH_ONLY = 0xc0;

interface Instruction {
  readonly opcode: string;
  readonly p5: number;
}

const PAGE = { before: null, limit: 20 };

test.for([
  ['schedules', ({ listSchedules }: Lists) => listSchedules(1 as Partition, ALL_SCHEDULES, PAGE)],
  ['profiles', ({ listProfiles }: Lists) => listProfiles(1 as Partition, true, PAGE)],
] as const)('the sizes of listed %s are read from row headers', async ([, list]) => {
  const directory = mkdtempSync(join(tmpdir(), 'sched-bytes-'));
  const db = openForWriting(join(directory, 'bytes.db'));
  onTestFinished(() => {
    db.close();
    rmSync(directory, { recursive: true, force: true });
  });
  migrate(db, START);
  const reader = new SqliteReader(db);
  const programs: (readonly Instruction[])[] = [];
  const query = async (sql: string, ...parameters: readonly QueryParameter[]) => {
    programs.push(await reader.query<Instruction>(`EXPLAIN ${sql}`, ...parameters));
    return [];
  };
  await list(lists({ query, lookUp: query }, SYNTAX));
  const lengths = programs
    .flat()
    .filter(({ opcode, p5 }) => opcode === 'Column' && (p5 & LENGTH_ONLY) === LENGTH_ONLY);
  expect(lengths).toHaveLength(3);
});
