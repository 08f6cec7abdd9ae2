/**
 * Searches by several labels, on connections of their own, which the first search opens: neither the API's other
 * questions nor what people look at wait behind a walk. Each piece is a statement that the server ends when it takes
 * too long (`aside-reader.ts`).
 */
import type { ScheduleId } from '#src/domain/id.ts';
import type { Partition } from '#src/domain/partition.ts';
import type { FoundSchedules, Page, ScheduleFilter } from '#src/ports/store.ts';
import type { Stopwatch, Timers } from '#src/ports/timers.ts';
import { LabelSearch, type LabelWalks } from '#src/store/sql/label-search.ts';
import type { WalkedRow } from '#src/store/sql/schedule-search.ts';
import { AsideReader } from './aside-reader.ts';
import type { Link } from './link.ts';
import type { Reader } from './reader.ts';
import { labelCounts, pieceOf } from './schedule-walks.ts';

export class LabelWalker {
  readonly #reader: AsideReader;
  readonly #search: LabelSearch;

  /** `make`: links that are not open yet. */
  constructor(make: () => readonly Link[], timers: Timers & Stopwatch) {
    this.#reader = new AsideReader(make);
    this.#search = new LabelSearch(labelWalks(this.#reader), timers);
  }

  find(partition: Partition, filter: ScheduleFilter, page: Page<ScheduleId>): Promise<FoundSchedules> {
    return this.#search.find(partition, filter, page);
  }

  close(): Promise<void> {
    return this.#reader.close();
  }
}

export function labelWalks(reader: Reader): LabelWalks {
  return {
    count: async (partition, labels, countMax) => {
      const { sql, parameters } = labelCounts(partition, labels, countMax);
      const rows = await reader.ask<{ readonly count: number }>(sql, ...parameters);
      return rows.map(({ count }) => count);
    },
    piece: (partition, filter, before, rows) => {
      const { sql, parameters } = pieceOf(partition, filter, null, before, rows);
      return reader.ask<WalkedRow>(sql, ...parameters);
    },
  };
}
