/**
 * A search by several labels. The rows of one label are walked in pieces, and each is looked up among those of the
 * others. The walk goes along the label that seems to be the rarest: where one is rare, there is little to walk.
 *
 * Whatever walks may take the processor from what fires, in another thread or in a server on the same machine. So a
 * walk rests between its pieces while timers come late here, the longer the more a piece took.
 */
import type { ScheduleId } from '#src/domain/id.ts';
import type { Labels } from '#src/domain/labels.ts';
import type { Partition } from '#src/domain/project.ts';
import type { FoundSchedules, Page, ScheduleFilter } from '#src/ports/store.ts';
import type { Stopwatch, Timers } from '#src/ports/system.ts';
import { ThrottledTimers } from '#src/ports/throttled-timers.ts';
import { ScanLimiter } from './scan-limiter.ts';
import { SCAN_ROWS_MAX, type ScannedRow, search } from './schedule-search.ts';

/** A page may be short only after this long. */
export const SCAN_MS_MAX = 1_000;
/** A clock that stands still must not make a walk endless. */
const SCANNED_ROWS_MAX = 4_000_000;
/** The rows of all labels that are counted to tell rare ones from common ones: counting takes time too. */
const COUNTED_ROWS_MAX = 40_000;

/** The questions of a search, each short, asked aside from what fires. */
export interface LabelScans {
  /** How many schedules have each label, in their order, counted no further than `countMax`. */
  count(partition: Partition, labels: Labels, countMax: number): Promise<readonly number[]>;
  /** The next rows of the first label, and which of them match. */
  scan(
    partition: Partition,
    filter: ScheduleFilter,
    before: ScheduleId | null,
    rows: number,
  ): Promise<readonly ScannedRow[]>;
}

export class LabelSearch {
  readonly #walks: LabelScans;
  readonly #timers: Timers & Stopwatch;
  readonly #slowed: ThrottledTimers;
  readonly #turns = new ScanLimiter();

  constructor(walks: LabelScans, timers: Timers & Stopwatch) {
    this.#walks = walks;
    this.#timers = timers;
    this.#slowed = new ThrottledTimers(timers, () => true);
  }

  find(partition: Partition, filter: ScheduleFilter, page: Page<ScheduleId>): Promise<FoundSchedules> {
    return this.#turns.run(partition, async () => {
      let walkedMs = 0;
      let tookMs = 0;
      const timed = async <T>(walk: () => Promise<T>): Promise<T> => {
        const from = this.#timers.elapsed();
        const answer = await walk();
        tookMs = this.#timers.elapsed() - from;
        walkedMs += tookMs;
        return answer;
      };
      const labels = await timed(() => this.#rarestFirst(partition, filter.labels));
      const { found, next } = await search(
        async (before, rows) => {
          await this.#rest(tookMs);
          return timed(() => this.#walks.scan(partition, { ...filter, labels }, before, rows));
        },
        page,
        {
          lookAtMax: SCANNED_ROWS_MAX,
          // A row is looked up among those of every other label.
          pieceRowsMax: Math.ceil(SCAN_ROWS_MAX / Math.max(labels.length - 1, 1)),
          isTimeUp: () => walkedMs >= SCAN_MS_MAX,
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
    const counts = await this.#walks.count(partition, labels, countMax);
    return labels
      .map((label, index) => ({ label, count: counts[index] ?? 0 }))
      .toSorted((one, other) => one.count - other.count)
      .map(({ label }) => label);
  }
}
