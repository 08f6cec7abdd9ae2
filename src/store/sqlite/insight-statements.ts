import type { Statement } from '#src/store/sql/statements.ts';

export const INSIGHT_STATEMENTS = {
  saveStatsRow: {
    sql: `INSERT INTO stats (partition, span_ms, at, node, counts) VALUES (?, ?, ?, ?, ?)
      ON CONFLICT DO UPDATE SET counts = excluded.counts`,
    holds: 'always',
  },
  saveEndpointStats: {
    sql: `INSERT INTO endpoint_stats (partition, endpoint_digest, at, node, endpoint, counts)
      VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET counts = excluded.counts`,
    holds: 'always',
  },
  removeStats: {
    sql: 'DELETE FROM stats WHERE partition = ? AND span_ms = ? AND at < ?',
    holds: 'always',
  },
  removeEndpointStats: {
    sql: 'DELETE FROM endpoint_stats WHERE partition = ? AND at = ? AND endpoint_digest <= ?',
    holds: 'always',
  },
} as const satisfies Readonly<Record<string, Statement>>;
