/**
 * Searches by several labels, on connections of their own, which the first search opens: neither the API's other
 * questions nor what people look at wait behind a walk. Each piece is a statement that the server ends when it takes
 * too long (`aside-reader.ts`).
 */
import type { ScheduleId } from '#src/domain/id.ts';
import type { Partition } from '#src/domain/project.ts';
import type { FoundSchedules, Page, ScheduleFilter } from '#src/ports/store.ts';
import type { Stopwatch, Timers } from '#src/ports/system.ts';
import { type LabelScans, LabelSearch } from '#src/store/sql/label-search.ts';
import type { ScannedRow } from '#src/store/sql/schedule-search.ts';
import { OnDemandReadPool } from './on-demand-read-pool.ts';
import type { Reader } from './read-pool.ts';
import type { ReconnectingClient } from './reconnecting-client.ts';
import { labelCountsQuery, scanQuery } from './schedule-scans.ts';

export class LabelSearcher {
  readonly #reader: OnDemandReadPool;
  readonly #search: LabelSearch;

  /** `make`: clients that are not open yet. */
  constructor(make: () => readonly ReconnectingClient[], timers: Timers & Stopwatch) {
    this.#reader = new OnDemandReadPool(make);
    this.#search = new LabelSearch(labelScans(this.#reader), timers);
  }

  find(partition: Partition, filter: ScheduleFilter, page: Page<ScheduleId>): Promise<FoundSchedules> {
    return this.#search.find(partition, filter, page);
  }

  close(): Promise<void> {
    return this.#reader.close();
  }
}

export function labelScans(reader: Reader): LabelScans {
  return {
    count: async (partition, labels, countMax) => {
      const { sql, parameters } = labelCountsQuery(partition, labels, countMax);
      const rows = await reader.query<{ readonly count: number }>(sql, ...parameters);
      return rows.map(({ count }) => count);
    },
    scan: (partition, filter, before, rows) => {
      const { sql, parameters } = scanQuery(partition, filter, null, before, rows);
      return reader.query<ScannedRow>(sql, ...parameters);
    },
  };
}
