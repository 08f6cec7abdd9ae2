/** Reads leases, slots and the clock of the database. */
import { instant } from '#src/domain/instant.ts';
import type { Slot } from '#src/domain/slot.ts';
import type { ClusterState } from '#src/ports/cluster-store.ts';
import type { Reader } from './read-pool.ts';

/** Either a node with its lease and no slot, or a slot with its epoch and owner. */
interface StateRow {
  readonly slot: Slot | null;
  readonly node: string | null;
  readonly number: number;
  readonly is_stopping: number;
}

export class ClusterReads {
  readonly #reader: Reader;

  constructor(reader: Reader) {
    this.#reader = reader;
  }

  async clock(): Promise<number> {
    const [row] = await this.#reader.query<{ readonly now: number }>(
      'SELECT extract(epoch FROM clock_timestamp())::double precision * 1000 AS now',
    );
    return row?.now ?? 0;
  }

  async state(): Promise<ClusterState> {
    const rows = await this.#reader.query<StateRow>(
      `SELECT NULL::integer AS slot, node, lease_until AS number, is_stopping FROM nodes
       UNION ALL SELECT slot, owner, epoch, 0 FROM slots
       ORDER BY slot, node`,
    );
    return {
      nodes: rows.flatMap(({ slot, node, number, is_stopping }) =>
        slot === null && node !== null
          ? [{ node, leaseUntil: instant(number), isStopping: is_stopping === 1 }]
          : [],
      ),
      slots: rows.flatMap(({ slot, node, number }) =>
        slot === null ? [] : [{ slot, owner: node, epoch: number }],
      ),
    };
  }
}
