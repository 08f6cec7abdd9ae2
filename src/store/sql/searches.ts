/**
 * Searches by filters for which there is no index. Rows of the part of the filter that has one are scanned in batches,
 * and each row is compared with the rest. A search by labels or by a profile scans the rarest of them, because it has
 * the fewest rows.
 *
 * A scan may take processor time from the engine: it runs in another thread, or in a server on the same machine. It
 * therefore pauses between batches while timers fire late. The pause grows with the time that the last batch took.
 */
import type { DeliveryId, ScheduleId } from '#src/domain/id.ts';
import { nameDigest } from '#src/domain/labels.ts';
import type { Partition } from '#src/domain/project.ts';
import type { DeliveryFilter, FoundIds, Page, ScheduleSearch } from '#src/ports/lists.ts';
import type { Stopwatch, Timers } from '#src/ports/system.ts';
import { ThrottledTimers } from '#src/ports/throttled-timers.ts';
import { SCAN_ROWS_MAX, search } from './batched-search.ts';
import type { SqlReader, Syntax } from './dialect.ts';
import { digestsIn } from './digests.ts';
import type { Query } from './query.ts';
import { ScanLimiter } from './scan-limiter.ts';
import {
  countsQuery,
  deliveryScanQuery,
  type ScannedRow,
  scanQuery,
  type WantedSchedules,
} from './search-queries.ts';

/** A search by labels runs at least this long before it returns a page that is not full. */
export const SCAN_MS_MAX = 1_000;
/** The same of the other searches. People wait for their pages, and a last batch of long URLs takes as long again. */
const SHORT_SCAN_MS_MAX = 60;
/** A bound for the case that the clock stands still. */
const SCANNED_ROWS_MAX = 4_000_000;
/** Rows that are counted to find what is rarest. Counting takes time too. */
const COUNTED_ROWS_MAX = 40_000;

/** Runs a query, and measures its time. */
type Ask = <Row>(query: Query) => Promise<readonly Row[]>;
type Scan<Id extends string> = (before: Id | null, rows: number) => Query;

export class Searches {
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

  schedules(
    partition: Partition,
    wanted: ScheduleSearch,
    page: Page<ScheduleId>,
  ): Promise<FoundIds<ScheduleId>> {
    const isByLabels = wanted.destination === null && wanted.endpointId == null && wanted.name == null;
    const msMax = isByLabels ? SCAN_MS_MAX : SHORT_SCAN_MS_MAX;
    return this.#run(partition, page, msMax, async (ask) => {
      const scanned = await this.#rarestFirst(ask, partition, wanted);
      return {
        scan: (before, rows) => scanQuery(this.#syntax, partition, scanned, before, rows),
        // Each row is looked up once for every other digest.
        scanRowsMax: Math.ceil(SCAN_ROWS_MAX / Math.max(scanned.otherDigests.length, 1)),
      };
    });
  }

  deliveries(
    partition: Partition,
    wanted: DeliveryFilter,
    page: Page<DeliveryId>,
  ): Promise<FoundIds<DeliveryId>> {
    return this.#run(partition, page, SHORT_SCAN_MS_MAX, async () => ({
      scan: (before, rows) => deliveryScanQuery(this.#syntax, partition, wanted, before, rows),
      scanRowsMax: SCAN_ROWS_MAX,
    }));
  }

  #run<Id extends string>(
    partition: Partition,
    page: Page<Id>,
    msMax: number,
    prepare: (ask: Ask) => Promise<{ readonly scan: Scan<Id>; readonly scanRowsMax: number }>,
  ): Promise<FoundIds<Id>> {
    return this.#limiter.run(partition, async () => {
      let scannedMs = 0;
      let tookMs = 0;
      const ask: Ask = async <Row>({ sql, parameters }: Query) => {
        const from = this.#timers.elapsed();
        const rows = await this.#reader.query<Row>(sql, ...parameters);
        tookMs = this.#timers.elapsed() - from;
        scannedMs += tookMs;
        return rows;
      };
      const { scan, scanRowsMax } = await prepare(ask);
      const { found, next } = await search<Id>(
        async (before, rows) => {
          await this.#rest(tookMs);
          return ask<ScannedRow<Id>>(scan(before, rows));
        },
        page,
        { scanMax: SCANNED_ROWS_MAX, scanRowsMax, isTimeUp: () => scannedMs >= msMax },
      );
      return { found, next };
    });
  }

  /** A name is of one schedule that has not ended, so it is not counted. */
  async #rarestFirst(ask: Ask, partition: Partition, wanted: ScheduleSearch): Promise<WantedSchedules> {
    const { endpointId = null, name = null } = wanted;
    const digests = digestsIn(wanted);
    const counted = digests.length + (endpointId === null ? 0 : 1);
    if (name !== null || counted < 2) return wantedSchedules(wanted);
    const countMax = Math.ceil(COUNTED_ROWS_MAX / counted);
    const counts = await ask<{ readonly position: number; readonly count: number }>(
      countsQuery(this.#syntax, partition, digests, endpointId, countMax),
    );
    const rarest = counts.reduce((one, other) => (other.count < one.count ? other : one));
    return wantedSchedules(wanted, rarest.position);
  }

  #rest(workedMs: number): Promise<void> {
    return new Promise((resolve) => void this.#slowed.afterWork(workedMs, resolve));
  }
}

/**
 * `position`: of the digest that is scanned, by default of the name. Without a digest there, the profile or the state
 * is scanned.
 */
export function wantedSchedules(wanted: ScheduleSearch, position?: number): WantedSchedules {
  const digests = digestsIn(wanted);
  const { name = null } = wanted;
  const scannedDigest = digests[position ?? (name === null ? 0 : digests.indexOf(nameDigest(name)))] ?? null;
  return { ...wanted, scannedDigest, otherDigests: digests.filter((one) => one !== scannedDigest) };
}
