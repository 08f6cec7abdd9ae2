import type { HotStatementName } from '#src/store/sql/statement-names.ts';
import { rows } from './array-rows.ts';
import type { Placement } from './placement.ts';
import { PLAIN, type Statement, statementBuilders } from './statement-builders.ts';

type InsightStatementName = Extract<
  HotStatementName,
  'saveStatsRow' | 'saveEndpointStats' | 'removeStats' | 'removeEndpointStats'
>;

const OLD = ['partition', 'span_ms', 'at'];
const OLD_OF_ENDPOINTS = ['partition', 'at', 'endpoint_digest'];

export function insightStatements(placement: Placement): Readonly<Record<InsightStatementName, Statement>> {
  const { insert } = statementBuilders(placement);
  return {
    saveStatsRow: {
      ...insert(
        'stats',
        ['partition', 'span_ms', 'at', 'node', 'counts'],
        ' ON CONFLICT (partition, span_ms, at, node) DO UPDATE SET counts = excluded.counts',
      ),
      key: [0, 1, 2, 3],
    },
    removeStats: {
      ...PLAIN,
      ...placement.forAll(
        OLD,
        (within) => `DELETE FROM stats AS r USING ${rows(OLD)}
         WHERE r.partition = t.partition AND r.span_ms = t.span_ms AND r.at < t.at${within}`,
      ),
      scans: true,
      key: [0, 1],
      table: 'old stats',
    },
    saveEndpointStats: {
      ...insert(
        'endpoint_stats',
        ['partition', 'endpoint_digest', 'at', 'node', 'endpoint', 'counts'],
        ' ON CONFLICT (partition, endpoint_digest, at, node) DO UPDATE SET counts = excluded.counts',
      ),
      key: [0, 1, 2, 3],
    },
    removeEndpointStats: {
      ...PLAIN,
      ...placement.forAll(
        OLD_OF_ENDPOINTS,
        (within) => `DELETE FROM endpoint_stats AS r USING ${rows(OLD_OF_ENDPOINTS)}
         WHERE r.partition = t.partition AND r.at = t.at AND r.endpoint_digest <= t.endpoint_digest${within}`,
      ),
      scans: true,
      key: [0],
      table: 'old endpoint_stats',
    },
  };
}
