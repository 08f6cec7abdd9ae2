/**
 * Searches by several labels, on connections that the first search opens. Other API reads and dashboard queries do
 * not wait for them. The server ends a scan that takes too long (`on-demand-read-pool.ts`).
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

  /** `makeClients`: makes clients that are not connected yet. */
  constructor(makeClients: () => readonly ReconnectingClient[], timers: Timers & Stopwatch) {
    this.#reader = new OnDemandReadPool(makeClients);
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
