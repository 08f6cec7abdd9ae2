/** Reads leases and slots. One process needs none of them; the simulation runs several nodes on one file. */
import { type Instant, instant } from '#src/domain/instant.ts';
import type { ClusterState, SlotState } from '#src/ports/cluster-store.ts';
import type { Db } from './connection.ts';
import { PreparedQueries } from './prepared-queries.ts';

interface NodeRow {
  readonly node: string;
  readonly lease_until: Instant;
  readonly is_stopping: number;
}

export class ClusterReads {
  readonly #queries: PreparedQueries;

  constructor(db: Db) {
    this.#queries = new PreparedQueries(db);
  }

  clock(): Instant {
    const row = this.#queries.get<{ readonly now: number }>(
      "SELECT CAST(unixepoch('subsec') * 1000 AS INTEGER) AS now",
    );
    return instant(row?.now ?? 0);
  }

  state(): ClusterState {
    return this.#queries.inSnapshot(() => ({
      nodes: this.#queries
        .all<NodeRow>('SELECT * FROM nodes ORDER BY node')
        .map(({ node, lease_until, is_stopping }) => ({
          node,
          leaseUntil: lease_until,
          isStopping: is_stopping === 1,
        })),
      slots: this.#queries.all<SlotState>('SELECT slot, owner, epoch FROM slots ORDER BY slot'),
    }));
  }
}
