/** The rows of stats that have changed since they were saved. */
import type { EndpointKey } from '#src/domain/endpoint-key.ts';
import type { Instant } from '#src/domain/instant.ts';
import type { Partition } from '#src/domain/project.ts';
import type { StatsSpanMs } from '#src/domain/stats.ts';

/** When the store is away for long, the rows that have waited longest are dropped beyond this number. */
const ROWS_MAX = 50_000;

/** A row while it is being counted. */
export interface StatsRow {
  readonly writer: string;
  readonly partition: Partition;
  readonly spanMs: StatsSpanMs;
  readonly at: Instant;
  /** Null for the row of the whole partition. */
  readonly endpoint: EndpointKey | null;
  fired: number;
  succeeded: number;
  deadLettered: number;
  expired: number;
  retried: number;
  /** Attempts by class of lateness; null for the row of an endpoint. */
  readonly lateness: number[] | null;
  downtimeSkips: number;
}

/** Rows of partitions come first, because one customer may have very many endpoints. */
export class UnsavedStats {
  /** The row that has waited longest comes first, in both sets. A further change does not move it. */
  readonly #ofPartitions = new Set<StatsRow>();
  readonly #ofEndpoints = new Set<StatsRow>();

  get size(): number {
    return this.#ofPartitions.size + this.#ofEndpoints.size;
  }

  add(row: StatsRow): void {
    (row.endpoint === null ? this.#ofPartitions : this.#ofEndpoints).add(row);
    if (this.size > ROWS_MAX) this.#dropOldest();
  }

  /** Removes the first rows, all of one writer, and returns them. A row that changes from now on is added again. */
  take(limit: number): readonly StatsRow[] {
    const rows: StatsRow[] = [];
    for (const unsaved of [this.#ofPartitions, this.#ofEndpoints]) {
      for (const row of unsaved) {
        if (rows.length >= limit || row.writer !== (rows[0] ?? row).writer) return rows;
        unsaved.delete(row);
        rows.push(row);
      }
    }
    return rows;
  }

  #dropOldest(): void {
    const [endpointRow] = this.#ofEndpoints;
    const [partitionRow] = this.#ofPartitions;
    if (endpointRow !== undefined) this.#ofEndpoints.delete(endpointRow);
    else if (partitionRow !== undefined) this.#ofPartitions.delete(partitionRow);
  }
}
