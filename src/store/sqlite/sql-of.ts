import type { PeopleSql } from '#src/store/sql/people.ts';
import { type Questions, withMarks } from './questions.ts';
import type { WriteQueue } from './writer.ts';

/** Where a family of questions is asked, and where its verbs are carried out. */
export function sqlOf(
  read: <T>(ask: (questions: Questions) => T) => Promise<T>,
  writer: Pick<WriteQueue, 'run'>,
): PeopleSql {
  const ask: PeopleSql['ask'] = (sql, ...values) =>
    read((questions) => questions.all(withMarks(sql), ...values));
  return { ask, lookUp: ask, run: (steps) => writer.run(steps) };
}
