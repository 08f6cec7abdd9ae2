import type { SqlRunner } from '#src/store/sql/people.ts';
import type { Reader } from './reader.ts';
import type { WriteQueue } from './write-queue.ts';

/** Where a family of questions is asked, and where its verbs are carried out. */
export function sqlRunner(reader: Reader, lane: WriteQueue): SqlRunner {
  return {
    query: (sql, ...values) => reader.query(sql, ...values),
    lookUp: (sql, ...values) => reader.lookUp(sql, ...values),
    run: (steps) => lane.run(steps),
  };
}
