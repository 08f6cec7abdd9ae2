/**
 * The health check of the disk. A heartbeat row is small and may still fit on a disk that takes nothing else. After
 * a failed write the check therefore first writes, and then removes, as much as an ordinary create takes.
 */
import type { Statement } from '#src/store/sql/statements.ts';

/** More than a create of ordinary size takes. */
const PROBE_BYTES = 262_144;

export const DISK_CHECK_STATEMENTS = {
  writeProbe: { sql: `INSERT INTO disk_probe (bytes) VALUES (zeroblob(${PROBE_BYTES}))`, holds: 'always' },
  removeProbe: { sql: 'DELETE FROM disk_probe', holds: 'always' },
  writeHeartbeat: {
    sql: 'INSERT INTO heartbeat (one, at) VALUES (1, ?) ON CONFLICT DO UPDATE SET at = excluded.at',
    holds: 'always',
  },
} as const satisfies Readonly<Record<string, Statement>>;

export type DiskCheckStatementName = keyof typeof DISK_CHECK_STATEMENTS;
