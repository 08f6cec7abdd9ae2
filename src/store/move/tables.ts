/**
 * The tables that are moved, in an order in which references exist before the rows that use them. State of processes
 * and of the disk is not moved: nodes, slots and the heartbeat. Short-lived state is not moved either: sessions,
 * counts of failures and breaker resets.
 */
import type { EndpointKey } from '#src/domain/endpoint-key.ts';
import { ONE_SERVER } from '#src/store/postgres/placement.ts';
import { TARGET_KEY } from '#src/store/postgres/statement-builders.ts';
import { keyParameters } from '#src/store/postgres/verbs.ts';
import {
  ALERT_CHANNEL,
  ALERT_CONDITION,
  ALERT_INCIDENT_COLUMNS,
  ALERT_MESSAGE,
} from '#src/store/sql/alert-rows.ts';
import { ENDPOINT_SECRET, KEY, PROJECT, SECRET } from '#src/store/sql/control-rows.ts';
import { HOT_STATEMENTS } from '#src/store/sql/hot-statements.ts';
import { LABEL_COLUMNS } from '#src/store/sql/label-rows.ts';
import { AUDIT, INVITATION, USER } from '#src/store/sql/people-rows.ts';
import { REPLAY_ITEM, REPLAY_JOB } from '#src/store/sql/replay-job-rows.ts';
import { DELIVERY } from '#src/store/sql/rows.ts';
import { SWEEP } from '#src/store/sql/sweep-rows.ts';

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

/** A service that found the target empty may have stored the time. */
const REPLACE_TIME = `ON CONFLICT (one) DO UPDATE SET seen_at = excluded.seen_at, trusted_at = excluded.trusted_at,
  believed_from = excluded.believed_from`;

function table(
  name: string,
  keyColumns: number,
  columns: readonly string[],
  { added = null, conflict = '' }: { readonly added?: Table['added']; readonly conflict?: string } = {},
): Table {
  const all = [...columns, ...(added?.columns ?? [])];
  return { name, columns, keyColumns, added, insert: ONE_SERVER.insertText(name, all, conflict).sql };
}

const {
  insertProfile,
  insertProfileVersion,
  insertSchedule,
  savePayload,
  insertName,
  insertDelivery,
  insertAttempt,
  insertResponse,
  insertReceipt,
  saveStatsRow,
  saveEndpointStats,
} = HOT_STATEMENTS;

export const TABLES: readonly Table[] = [
  table('projects', 1, PROJECT.columns),
  table('partitions', 1, ['partition', 'project_id', 'mode']),
  table('api_keys', 1, KEY.columns),
  table('signing_secrets', 1, SECRET.columns),
  table('endpoint_profiles', 2, insertProfile.columns),
  table('endpoint_profile_versions', 3, insertProfileVersion.columns),
  table('endpoint_secrets', 3, ENDPOINT_SECRET.columns),
  table('schedules', 2, insertSchedule.columns),
  table('schedule_labels', LABEL_COLUMNS.length, LABEL_COLUMNS),
  table('payloads', 2, savePayload.columns),
  table('earlier_payloads', 3, [
    'partition',
    'schedule_id',
    'version',
    'since_id',
    'last_id',
    'check_at',
    'sealed',
  ]),
  table('names', 3, insertName.columns),
  table('deliveries', 2, insertDelivery.columns, {
    added: {
      columns: TARGET_KEY,
      of: (row) => keyParameters.delivery(DELIVERY.from(row)),
    },
  }),
  table('attempts', 3, insertAttempt.columns),
  table('attempt_responses', 3, insertResponse.columns),
  table('receipts', 2, insertReceipt.columns),
  table('gates', 2, ['partition', 'endpoint', 'state', 'saved_at'], {
    added: {
      columns: ['endpoint_digest'],
      of: ({ endpoint }) => keyParameters.gate(endpoint as EndpointKey),
    },
  }),
  table('users', 1, USER.columns),
  table('invitations', 1, INVITATION.columns),
  table('audit', 1, AUDIT.columns),
  table('stats', 4, saveStatsRow.columns),
  table('endpoint_stats', 4, saveEndpointStats.columns),
  table('replay_jobs', 2, REPLAY_JOB.columns),
  table('alert_channels', 2, ALERT_CHANNEL.columns),
  table('alert_conditions', 2, ALERT_CONDITION.columns),
  table('alert_incidents', 2, ALERT_INCIDENT_COLUMNS),
  table('alert_messages', 2, ALERT_MESSAGE.columns),
  table('trusted_time', 1, ['one', 'seen_at', 'trusted_at', 'believed_from'], { conflict: REPLACE_TIME }),
  table('sweeps', 2, SWEEP.columns),
  table('replay_items', 4, REPLAY_ITEM),
];

/** All columns of the table in PostgreSQL. */
export function columnsOf({ columns, added }: Table): readonly string[] {
  return [...columns, ...(added?.columns ?? [])];
}
