/** Rows are passed as arrays, one for each column. The name of a column determines its type. */
import type { Parameter } from '#src/store/sql/steps.ts';
import type { SqlValue } from './parameter-encoding.ts';

/** The parameters of each row. */
export type ParameterRows = readonly (readonly Parameter[])[];

const BIGINTS: ReadonlySet<string> = new Set([
  'partition',
  'created_at',
  'updated_at',
  'ended_at',
  'fire_at',
  'cron_at',
  'last_occurrence',
  'occurrence',
  'scheduled_for',
  'due_at',
  'claim_due_at',
  'claim_fired_at',
  'deadline',
  'finalized_at',
  'fired_at',
  'finished_at',
  'saved_at',
  'expires_at',
  'epoch',
  'now',
  'revision',
  'was',
  'egress_ms',
  'at',
  'requested_at',
  'span_ms',
]);
const INTEGERS: ReadonlySet<string> = new Set([
  'batch_max',
  'slot',
  'version',
  'archived',
  'reserved',
  'attempt_count',
  'attempt_no',
  'last_status_code',
  'status_code',
  'endpoint_version',
  'payload_bytes',
  'status_number',
]);
const BYTES: ReadonlySet<string> = new Set(['sealed', 'sealed_headers', 'digest']);

function typeOf(column: string): string {
  if (BIGINTS.has(column)) return 'bigint';
  if (INTEGERS.has(column)) return 'integer';
  return BYTES.has(column) ? 'bytea' : 'text';
}

/** `unnest($1::bigint[], …) AS t (partition, …)` */
export function rows(columns: readonly string[], from = 1): string {
  const arrays = columns.map((column, index) => `$${index + from}::${typeOf(column)}[]`);
  return `unnest(${arrays.join(', ')}) AS t (${columns.join(', ')})`;
}

/** The arrays for `rows`. */
export function columnsOf(all: ParameterRows): SqlValue[] {
  const [first = []] = all;
  return first.map((_, column) => all.map((row) => row[column] ?? null));
}
