/**
 * The hot statements, which many deliveries share. Most are of a few kinds. They are described here, and each store
 * makes its text from the description. The others are `own`: each store writes their text itself.
 *
 * PostgreSQL runs them in the order of this list, and so locks rows in the same order in every transaction: leases and
 * slots, profiles, receipts, schedules, deliveries, the rest.
 */
import { ATTEMPT, RESPONSE_COLUMNS } from './attempt-rows.ts';
import {
  DELIVERY,
  DELIVERY_CLAIMED,
  DELIVERY_DEFERRED,
  DELIVERY_SETTLED,
  PROFILE_HEAD,
  PROFILE_VERSION,
  SCHEDULE,
  SCHEDULE_ADVANCED,
  SCHEDULE_COMPLETED,
  UNCLAIMED,
} from './rows.ts';
import type { SharedStatementName, Statement } from './statements.ts';
import { notAwaitingSweep } from './sweep-rows.ts';

type Columns = readonly string[];

/** A condition about `row`, the name of the table in the statement. */
type Condition = (row: string, syntax: ConditionSyntax) => string;

/** The part of `Syntax` (`dialect.ts`) that conditions need. */
export interface ConditionSyntax {
  readonly indexedBy: (index: string) => string;
  readonly tellsOf: (notification: string, of: string) => string;
}

export interface Insert {
  readonly kind: 'insert';
  readonly table: string;
  readonly columns: Columns;
  /** The columns that identify the row. */
  readonly key: Columns;
  /** The rule for a row that exists already. */
  readonly conflict: string;
  /** `one_row`: the conflict rule may leave the row as it is, and then the statement does not hold. */
  readonly holds: 'always' | 'one_row';
}

/** Takes the columns, then partition, id and the revision that was read. */
export interface Replace {
  readonly kind: 'replace';
  readonly table: string;
  readonly columns: Columns;
  /** Further assignments, without parameters. */
  readonly also?: string;
  /** A column that must have the value that comes last, which may be null. */
  readonly same?: string;
  readonly condition?: Condition;
  readonly holds: 'one_row';
}

/** Removes all rows with these values. */
export interface Remove {
  readonly kind: 'remove';
  readonly table: string;
  readonly columns: Columns;
  /** One more column, and how it compares with the parameter that comes last. */
  readonly compare?: readonly [column: string, operator: '<' | '<=', parameter: string];
  /** The columns that tell removals apart. */
  readonly key: Columns;
  /** Whether this removes many rows, which no other statement writes any more. */
  readonly isOld: boolean;
  readonly holds: 'always';
}

/** Removes a row, if its revision is still the one that was read. A condition is about rows of other tables. */
export interface RemoveRevision {
  readonly kind: 'removeRevision';
  readonly table: string;
  readonly condition?: Condition;
  readonly holds: 'one_row';
}

/** Finds the row with these values. They do not change before the end of the transaction. */
export interface Check {
  readonly kind: 'check';
  readonly table: string;
  readonly columns: Columns;
  readonly holds: 'one_row';
}

interface Own {
  readonly kind: 'own';
  readonly holds: Statement['holds'];
}

export type Described = Insert | Replace | Remove | RemoveRevision | Check;

function insert(
  table: string,
  columns: Columns,
  { key = ['partition', 'id'], conflict = '', holds = 'always' }: Partial<Insert> = {},
): Insert {
  return { kind: 'insert', table, columns, key, conflict, holds };
}

/** Inserts a row, or changes `changed` of the row with the same key. `where`: only if this is true. */
function save(
  table: string,
  key: Columns,
  rest: Columns,
  { changed = rest, where = null }: { readonly changed?: Columns; readonly where?: string | null } = {},
): Insert {
  const assignments = changed.map((column) => `${column} = excluded.${column}`);
  const conflict = `ON CONFLICT (${key.join(', ')}) DO UPDATE SET ${assignments.join(', ')}`;
  const columns = [...key, ...rest];
  if (where === null) return insert(table, columns, { key, conflict });
  return insert(table, columns, { key, conflict: `${conflict} WHERE ${where}`, holds: 'one_row' });
}

function replace(
  table: string,
  columns: Columns,
  more: Pick<Replace, 'also' | 'same' | 'condition'> = {},
): Replace {
  return { kind: 'replace', table, columns, ...more, holds: 'one_row' };
}

function remove(table: string, columns: Columns, more: Partial<Remove> = {}): Remove {
  return { kind: 'remove', table, columns, key: columns, isOld: false, ...more, holds: 'always' };
}

function removeRevision(table: string, more: Pick<RemoveRevision, 'condition'> = {}): RemoveRevision {
  return { kind: 'removeRevision', table, ...more, holds: 'one_row' };
}

function check(table: string, columns: Columns): Check {
  return { kind: 'check', table, columns, holds: 'one_row' };
}

function own(holds: Statement['holds']): Own {
  return { kind: 'own', holds };
}

const NAME_KEY = ['partition', 'kind', 'name'];

/** No notification has yet to tell of the delivery `row`. Most deliveries notify nobody. */
export function isTold(row: string, { indexedBy, tellsOf }: ConditionSyntax): string {
  return `(${row}.notify IS NULL OR NOT EXISTS (
    SELECT 1 FROM deliveries n ${indexedBy('deliveries_notifications')}
    WHERE ${tellsOf('n', row)} AND n.finalized_at IS NULL))`;
}

export const HOT_STATEMENTS = {
  nodeLives: own('one_row'),
  takeSlot: own('one_row'),
  releaseSlot: own('always'),
  slotHeld: own('one_row'),

  replaceProfile: replace('endpoint_profiles', PROFILE_HEAD.mutable.columns),
  profileAtRevision: check('endpoint_profiles', ['partition', 'id', 'revision']),
  insertProfile: insert('endpoint_profiles', PROFILE_HEAD.columns),
  insertProfileVersion: insert('endpoint_profile_versions', [...PROFILE_VERSION.columns, 'sealed_headers'], {
    key: ['partition', 'endpoint_id'],
  }),

  insertReceipt: save(
    'receipts',
    ['partition', 'key'],
    ['fingerprint', 'status_code', 'body', 'created_at', 'expires_at'],
    { where: 'receipts.expires_at <= excluded.created_at' },
  ),
  removeReceipt: remove('receipts', ['partition', 'key'], { compare: ['expires_at', '<=', 'now'] }),

  replaceSchedule: replace('schedules', SCHEDULE.mutable.columns),
  advanceSchedule: replace('schedules', SCHEDULE_ADVANCED.columns),
  completeSchedule: replace('schedules', SCHEDULE_COMPLETED.columns),
  scheduleInState: check('schedules', ['partition', 'id', 'state']),
  scheduleExists: check('schedules', ['partition', 'id']),
  scheduleAtRevision: check('schedules', ['partition', 'id', 'revision']),
  insertSchedule: insert('schedules', SCHEDULE.columns),
  removeSchedule: removeRevision('schedules', {
    condition: (row, { indexedBy }) => `NOT EXISTS (
      SELECT 1 FROM deliveries d ${indexedBy('deliveries_of_schedule')}
      WHERE d.partition = ${row}.partition AND d.schedule_id = ${row}.id)`,
  }),
  profileUnused: own('no_row'),

  /** The name itself is the key: an object that is renamed gives its old name to another at once. */
  removeName: remove('names', [...NAME_KEY, 'id'], { key: NAME_KEY }),
  insertName: insert('names', [...NAME_KEY, 'id'], {
    key: NAME_KEY,
    conflict: 'ON CONFLICT (partition, kind, name) DO NOTHING',
    holds: 'one_row',
  }),

  deliveryExists: check('deliveries', ['partition', 'id']),
  replaceDelivery: replace('deliveries', DELIVERY.mutable.columns),
  claimDelivery: replace('deliveries', DELIVERY_CLAIMED.columns, { condition: notAwaitingSweep }),
  settleDelivery: replace('deliveries', DELIVERY_SETTLED.columns, {
    also: UNCLAIMED,
    same: 'claim_attempt_id',
  }),
  deferDelivery: replace('deliveries', DELIVERY_DEFERRED.columns),
  insertDelivery: insert('deliveries', DELIVERY.columns),
  /** Does not hold if the occurrence exists already. */
  insertNextDelivery: insert('deliveries', DELIVERY.columns, {
    conflict: 'ON CONFLICT DO NOTHING',
    holds: 'one_row',
  }),
  sweepFirstDeliveries: own('always'),
  sweepDeliveries: own('always'),
  removeSweep: remove('sweeps', ['partition', 'schedule_id']),
  insertSweep: own('always'),
  endSweep: remove('sweeps', ['partition', 'schedule_id', 'action', 'requested_at']),
  removeStaleSweep: own('always'),
  removeDelivery: removeRevision('deliveries', { condition: isTold }),

  insertAttempt: insert('attempts', ATTEMPT.columns, { key: ['partition', 'delivery_id', 'attempt_no'] }),
  removeAttempts: remove('attempts', ['partition', 'delivery_id']),
  insertResponse: insert('attempt_responses', RESPONSE_COLUMNS, {
    key: ['partition', 'delivery_id', 'attempt_no'],
  }),
  removeResponses: remove('attempt_responses', ['partition', 'delivery_id']),

  /** Keeps the present version of a payload, if a delivery names it. */
  insertEarlierPayload: own('always'),
  extendEarlierPayload: own('always'),
  checkEarlierPayload: own('always'),
  keepEarlierPayload: own('always'),
  removeEarlierPayload: own('always'),
  removeEarlierPayloads: remove('earlier_payloads', ['partition', 'schedule_id']),
  insertPayload: insert('payloads', ['partition', 'schedule_id', 'sealed'], {
    key: ['partition', 'schedule_id'],
  }),
  savePayload: save('payloads', ['partition', 'schedule_id'], ['version', 'since_id', 'sealed']),
  removePayload: remove('payloads', ['partition', 'schedule_id']),
  deleteLabel: own('always'),
  completeLabel: own('always'),
  insertLabel: own('always'),

  removeGate: own('always'),
  removeOldGate: own('always'),
  saveGate: own('always'),

  saveStatsRow: save('stats', ['partition', 'span_ms', 'at', 'node'], ['counts']),
  removeStats: remove('stats', ['partition', 'span_ms'], { compare: ['at', '<', 'at'], isOld: true }),
  saveEndpointStats: save(
    'endpoint_stats',
    ['partition', 'endpoint_digest', 'at', 'node'],
    ['endpoint', 'counts'],
    { changed: ['counts'] },
  ),
  removeEndpointStats: remove('endpoint_stats', ['partition', 'at'], {
    compare: ['endpoint_digest', '<=', 'endpoint_digest'],
    key: ['partition'],
    isOld: true,
  }),
} as const satisfies Readonly<Record<string, Described | Own>>;

export type HotStatementName = keyof typeof HOT_STATEMENTS;

/** The statements whose text each store writes itself. */
export type OwnStatementName = {
  [Name in HotStatementName]: (typeof HOT_STATEMENTS)[Name]['kind'] extends 'own' ? Name : never;
}[HotStatementName];

/** A step of a verb (`steps.ts`) names one of these. */
export type StatementName = HotStatementName | SharedStatementName;

/** The statements of a store, in the order of the list. */
export function makeHotStatements<Text extends object>(
  make: (described: Described) => Text,
  ownText: (name: OwnStatementName) => Text,
): Readonly<Record<HotStatementName, Text & Pick<Statement, 'holds'>>> {
  const made = Object.entries<Described | Own>(HOT_STATEMENTS).map(([name, statement]) => {
    const text = statement.kind === 'own' ? ownText(name as OwnStatementName) : make(statement);
    return [name, { ...text, holds: statement.holds }];
  });
  return Object.fromEntries(made) as Readonly<Record<HotStatementName, Text & Pick<Statement, 'holds'>>>;
}
