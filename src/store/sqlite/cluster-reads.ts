/** How nodes stand to each other. One process needs none of it; the simulation runs several on one file. */
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
  readonly #ask: PreparedQueries;

  constructor(db: Db) {
    this.#ask = new PreparedQueries(db);
  }

  clock(): Instant {
    const row = this.#ask.get<{ readonly now: number }>(
      "SELECT CAST(unixepoch('subsec') * 1000 AS INTEGER) AS now",
    );
    return instant(row?.now ?? 0);
  }

  state(): ClusterState {
    return this.#ask.inSnapshot(() => ({
      nodes: this.#ask
        .all<NodeRow>('SELECT * FROM nodes ORDER BY node')
        .map(({ node, lease_until, is_stopping }) => ({
          node,
          leaseUntil: lease_until,
          isStopping: is_stopping === 1,
        })),
      slots: this.#ask.all<SlotState>('SELECT slot, owner, epoch FROM slots ORDER BY slot'),
    }));
  }
}
