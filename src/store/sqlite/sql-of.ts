import type { SqlRunner } from '#src/store/sql/people.ts';
import { type PreparedQueries, withQuestionMarks } from './prepared-queries.ts';
import type { WriteQueue } from './writer.ts';

/** Where a family of questions is asked, and where its verbs are carried out. */
export function sqlRunner(
  read: <T>(ask: (questions: PreparedQueries) => T) => Promise<T>,
  writer: Pick<WriteQueue, 'run'>,
): SqlRunner {
  const ask: SqlRunner['query'] = (sql, ...values) =>
    read((questions) => questions.all(withQuestionMarks(sql), ...values));
  return { query: ask, lookUp: ask, run: (steps) => writer.run(steps) };
}
