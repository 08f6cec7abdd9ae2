/**
 * Searches schedules by several labels. The rows of one label are scanned in batches, and each row is looked up
 * among the rows of the other labels. The scan uses the label that seems to be the rarest, because it has the fewest
 * rows.
 *
 * A scan may take processor time from the engine: it runs in another thread, or in a server on the same machine. It
 * therefore pauses between batches while timers fire late. The pause grows with the time that the last batch took.
 */
import type { ScheduleId } from '#src/domain/id.ts';
import type { Labels } from '#src/domain/labels.ts';
import type { Partition } from '#src/domain/project.ts';
import type { FoundSchedules, Page, ScheduleFilter } from '#src/ports/store.ts';
import type { Stopwatch, Timers } from '#src/ports/system.ts';
import { ThrottledTimers } from '#src/ports/throttled-timers.ts';
import type { SqlReader, Syntax } from './dialect.ts';
import { ScanLimiter } from './scan-limiter.ts';
import { SCAN_ROWS_MAX, search } from './schedule-search.ts';
import { labelCountsQuery, type ScannedRow, scanQuery } from './search-queries.ts';

/** A search runs at least this long before it returns a page that is not full. */
export const SCAN_MS_MAX = 1_000;
/** A bound for the case that the clock stands still. */
const SCANNED_ROWS_MAX = 4_000_000;
/** Rows of all labels together that are counted to find the rarest label. Counting takes time too. */
const COUNTED_ROWS_MAX = 40_000;

export class LabelSearch {
  readonly #reader: SqlReader;
  readonly #syntax: Syntax;
  readonly #timers: Timers & Stopwatch;
  readonly #slowed: ThrottledTimers;
  readonly #limiter = new ScanLimiter();

  /** `reader`: runs each query where the engine does not wait for it. */
  constructor(reader: SqlReader, syntax: Syntax, timers: Timers & Stopwatch) {
    this.#reader = reader;
    this.#syntax = syntax;
    this.#timers = timers;
    this.#slowed = new ThrottledTimers(timers, () => true);
  }

  find(partition: Partition, filter: ScheduleFilter, page: Page<ScheduleId>): Promise<FoundSchedules> {
    return this.#limiter.run(partition, async () => {
      let scannedMs = 0;
      let tookMs = 0;
      const timed = async <T>(scan: () => Promise<T>): Promise<T> => {
        const from = this.#timers.elapsed();
        const answer = await scan();
        tookMs = this.#timers.elapsed() - from;
        scannedMs += tookMs;
        return answer;
      };
      const labels = await timed(() => this.#rarestFirst(partition, filter.labels));
      const { found, next } = await search(
        async (before, rows) => {
          await this.#rest(tookMs);
          const wanted = { ...filter, labels };
          const { sql, parameters } = scanQuery(this.#syntax, partition, wanted, null, before, rows);
          return timed(() => this.#reader.query<ScannedRow>(sql, ...parameters));
        },
        page,
        {
          scanMax: SCANNED_ROWS_MAX,
          // Each row is looked up once for every other label.
          scanRowsMax: Math.ceil(SCAN_ROWS_MAX / Math.max(labels.length - 1, 1)),
          isTimeUp: () => scannedMs >= SCAN_MS_MAX,
        },
      );
      return { found, next };
    });
  }

  #rest(workedMs: number): Promise<void> {
    return new Promise((resolve) => void this.#slowed.afterWork(workedMs, resolve));
  }

  async #rarestFirst(partition: Partition, labels: Labels): Promise<Labels> {
    const countMax = Math.ceil(COUNTED_ROWS_MAX / labels.length);
    const { sql, parameters } = labelCountsQuery(partition, labels, countMax);
    const counts = await this.#reader.query<LabelCount>(sql, ...parameters);
    return counts
      .toSorted((one, other) => one.count - other.count)
      .flatMap(({ position }) => labels.slice(position, position + 1));
  }
}

interface LabelCount {
  /** The position of the label in the filter. */
  readonly position: number;
  readonly count: number;
}
