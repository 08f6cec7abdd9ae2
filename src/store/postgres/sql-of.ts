import type { PeopleSql } from '#src/store/sql/people.ts';
import type { Reader } from './reader.ts';
import type { WriteLane } from './write-lane.ts';

/** Where a family of questions is asked, and where its verbs are carried out. */
export function sqlOf(reader: Reader, lane: WriteLane): PeopleSql {
  return {
    ask: (sql, ...values) => reader.ask(sql, ...values),
    lookUp: (sql, ...values) => reader.lookUp(sql, ...values),
    run: (steps) => lane.run(steps),
  };
}
