import type { InsightStatementName } from '#src/store/sql/statement-names.ts';
import type { Statement } from '#src/store/sql/statements.ts';

export const INSIGHT_STATEMENTS = {
  saveStatsRow: {
    sql: `INSERT INTO tallies (partition, span_ms, at, node, counts) VALUES (?, ?, ?, ?, ?)
      ON CONFLICT DO UPDATE SET counts = excluded.counts`,
    holds: 'always',
  },
  saveEndpointStats: {
    sql: `INSERT INTO endpoint_tallies (partition, endpoint_key, at, node, endpoint, counts)
      VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET counts = excluded.counts`,
    holds: 'always',
  },
  removeStats: {
    sql: 'DELETE FROM tallies WHERE partition = ? AND span_ms = ? AND at < ?',
    holds: 'always',
  },
  removeEndpointStats: {
    sql: 'DELETE FROM endpoint_tallies WHERE partition = ? AND at = ? AND endpoint_key <= ?',
    holds: 'always',
  },
  saveBreakerReset: {
    sql: `INSERT INTO gate_orders (partition, endpoint_key, endpoint, at) VALUES (?, ?, ?, ?)
      ON CONFLICT DO UPDATE SET at = excluded.at`,
    holds: 'always',
  },
  removeBreakerReset: {
    sql: 'DELETE FROM gate_orders WHERE partition = ? AND endpoint_key = ? AND at <= ?',
    holds: 'always',
  },
} as const satisfies Readonly<Record<InsightStatementName, Statement>>;
