/**
 * The tables that are moved, in an order in which references exist before the rows that use them. State of processes
 * and of the disk is not moved: nodes, slots and the heartbeat. Short-lived state is not moved either: sessions,
 * failed logins and breaker resets.
 */
import type { EndpointKey } from '#src/domain/endpoint-key.ts';
import { ONE_SERVER } from '#src/store/postgres/placement.ts';
import { type Statement, statementBuilders } from '#src/store/postgres/statement-builders.ts';
import { statements } from '#src/store/postgres/statements.ts';
import { keyParameters } from '#src/store/postgres/verbs.ts';
import { ATTEMPT } from '#src/store/sql/attempt-rows.ts';
import {
  DELIVERY_FIXED,
  DELIVERY_MUTABLE,
  ENDPOINT_SECRET,
  PROFILE_FIXED,
  PROFILE_MUTABLE,
  PROFILE_VERSION,
  SCHEDULE_FIXED,
  SCHEDULE_MUTABLE,
} from '#src/store/sql/columns.ts';
import { LABEL_COLUMNS } from '#src/store/sql/label-rows.ts';
import { type DeliveryRow, fromDeliveryRow } from '#src/store/sql/rows.ts';
import { SWEEP_COLUMNS } from '#src/store/sql/sweep-rows.ts';

export type Value = string | number | Uint8Array | null;
/** A row of SQLite. */
export type Row = Readonly<Record<string, Value>>;

export interface Table {
  readonly name: string;
  /** Columns in SQLite. The primary key comes first, because rows are read in its order. */
  readonly columns: readonly string[];
  readonly keyColumns: number;
  /** Columns that only PostgreSQL has, and how they are computed from a row. */
  readonly added: { readonly columns: readonly string[]; readonly of: (row: Row) => readonly Value[] } | null;
  /** Takes an array for each column; the columns of SQLite come first. */
  readonly insert: string;
}

const STATEMENTS = statements(ONE_SERVER);
const { insert } = statementBuilders(ONE_SERVER);

/** The ordinary statement generates partitions. Here they are given. */
const INSERT_PARTITIONS = `INSERT INTO partitions (partition, project_id, mode)
  SELECT * FROM unnest($1::bigint[], $2::text[], $3::text[])`;

function table(
  name: string,
  keyColumns: number,
  columns: readonly string[],
  statement: Pick<Statement, 'sql'>,
  added: Table['added'] = null,
): Table {
  return { name, columns, keyColumns, added, insert: statement.sql.join(';') };
}

/** A table whose rows are copied by a plain insert, because no verb has a suitable statement. */
function whole(name: string, keyColumns: number, columns: readonly string[]): Table {
  return table(name, keyColumns, columns, insert(name, columns));
}

export const TABLES: readonly Table[] = [
  table('projects', 1, ['id', 'name', 'pinned_version', 'created_at'], STATEMENTS.insertProject),
  table('partitions', 1, ['partition', 'project_id', 'mode'], { sql: [INSERT_PARTITIONS] }),
  whole('api_keys', 1, ['id', 'partition', 'hash', 'hint', 'created_at', 'revoked_at', 'last_used_at']),
  table(
    'signing_secrets',
    1,
    ['id', 'partition', 'sealed', 'created_at', 'expires_at'],
    STATEMENTS.insertSecret,
  ),
  table('endpoint_profiles', 2, [...PROFILE_FIXED, ...PROFILE_MUTABLE], STATEMENTS.insertProfile),
  table(
    'endpoint_profile_versions',
    3,
    [...PROFILE_VERSION, 'sealed_headers'],
    STATEMENTS.insertProfileVersion,
  ),
  table('endpoint_secrets', 3, ENDPOINT_SECRET, STATEMENTS.insertEndpointSecret),
  table('schedules', 2, [...SCHEDULE_FIXED, ...SCHEDULE_MUTABLE], STATEMENTS.insertSchedule),
  table('schedule_labels', LABEL_COLUMNS.length, LABEL_COLUMNS, STATEMENTS.insertLabel),
  table('payloads', 2, ['partition', 'schedule_id', 'sealed'], STATEMENTS.insertPayload),
  table('deliveries', 2, [...DELIVERY_FIXED, ...DELIVERY_MUTABLE], STATEMENTS.insertDelivery, {
    columns: ['slot', 'endpoint_digest'],
    of: (row) => keyParameters.delivery(fromDeliveryRow(row as unknown as DeliveryRow)),
  }),
  table('attempts', 3, ATTEMPT, STATEMENTS.insertAttempt),
  table(
    'receipts',
    2,
    ['partition', 'key', 'fingerprint', 'status', 'body', 'created_at', 'expires_at'],
    STATEMENTS.insertReceipt,
  ),
  table('gates', 2, ['partition', 'endpoint', 'state', 'saved_at'], STATEMENTS.saveGate, {
    columns: ['endpoint_digest'],
    of: ({ endpoint }) => keyParameters.gate(endpoint as EndpointKey),
  }),
  whole('users', 1, [
    'id',
    'name',
    'role',
    'projects',
    'password_hash',
    'created_at',
    'password_changed_at',
    'revision',
  ]),
  whole('invitations', 1, ['id', 'hash', 'role', 'projects', 'created_by', 'created_at', 'expires_at']),
  whole('audit', 1, [
    'id',
    'at',
    'user_id',
    'actor',
    'action',
    'subject',
    'project_id',
    'mode',
    'detail',
    'address',
    'peer',
    'outcome',
    'code',
  ]),
  whole('stats', 4, ['partition', 'span_ms', 'at', 'node', 'counts']),
  whole('endpoint_stats', 4, ['partition', 'endpoint_digest', 'at', 'node', 'endpoint', 'counts']),
  whole('replay_jobs', 2, [
    'partition',
    'id',
    'state',
    'filter',
    'cursor',
    'gathered',
    'replayed',
    'skipped',
    'expected',
    'created_by',
    'created_at',
    'updated_at',
    'ended_at',
    'runner',
    'lease_until',
    'revision',
  ]),
  table('trusted_time', 1, ['one', 'seen_at', 'trusted_at', 'believed_from'], STATEMENTS.saveTrustedTime),
  whole('sweeps', 2, SWEEP_COLUMNS),
  whole('replay_items', 4, ['partition', 'job_id', 'endpoint_digest', 'delivery_id', 'endpoint']),
];

/** All columns of the table in PostgreSQL. */
export function columnsOf({ columns, added }: Table): readonly string[] {
  return [...columns, ...(added?.columns ?? [])];
}
