/**
 * Makes many schedules out of a few templates. The templates were created through the API, so every row is as the
 * service writes it. The database itself copies them, which takes minutes. Creating as many would take hours. A copy
 * differs from its template only in its ids and its instant:
 *
 * - An id keeps its time part, so that ids still sort by creation. The first characters of the random part count the
 *   copies. The last ones stay, because ids of the same millisecond differ only there.
 * - A payload is copied unchanged. It is sealed for another id, so it could not be opened. This does no harm, because
 *   the schedules are due in a year.
 *
 * SQLite and PostgreSQL both accept the statements. The templates are removed from a table first. Indexes are created
 * when all rows are there, from the definitions that the database returns, so the schema stays that of the service.
 *
 * Copies may share the instant of their template, so that many are due at one millisecond. If copies have to be sent,
 * their template has neither headers nor body, and so no payload. Deliveries that wait for a retry are multiplied with
 * their attempts and keep their schedule. Their templates are replays of one delivery, which share its key.
 */

export const MULTIPLIED_TABLES = ['schedules', 'deliveries', 'payloads', 'schedule_labels'] as const;
const RETRY_TABLES = ['deliveries', 'attempts'] as const;
export type MultipliedTable = (typeof MULTIPLIED_TABLES)[number] | (typeof RETRY_TABLES)[number];

export const MULTIPLICATION_KINDS = ['apart', 'together', 'retries'] as const;
/** `apart`: schedules with different instants. `together`: schedules with one instant. `retries`: waiting retries. */
export type MultiplicationKind = (typeof MULTIPLICATION_KINDS)[number];

export interface Multiplication {
  readonly kind: MultiplicationKind;
  readonly copies: number;
  /** The customer whose rows are multiplied. Null means all customers. */
  readonly partition: number | null;
}

const SCHEDULE_ID_COLUMNS: ReadonlySet<string> = new Set([
  'schedules.id',
  'schedules.pending_id',
  'deliveries.id',
  'deliveries.schedule_id',
  'deliveries.idempotency_key',
  'payloads.schedule_id',
  'schedule_labels.schedule_id',
]);
const RETRY_ID_COLUMNS: ReadonlySet<string> = new Set([
  'deliveries.id',
  'attempts.delivery_id',
  'attempts.id',
]);
const INSTANT_COLUMNS: ReadonlySet<string> = new Set([
  'schedules.fire_at',
  'deliveries.occurrence',
  'deliveries.scheduled_for',
  'deliveries.due_at',
]);

const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz';
const COUNT_CHARACTERS = 3;
/** The characters cannot count more copies. */
export const COPIES_MAX = ALPHABET.length ** COUNT_CHARACTERS;
/** The length of `sch_` and ten characters of time. The ids of deliveries have the same layout. */
const TIME_END = 14;
/** The distance between two copies. All copies together are due over several days. */
const COPIES_APART_MS = 37_021;

/** Returns the tables in the order in which they are multiplied. */
export function tablesOf({ kind }: Multiplication): readonly MultipliedTable[] {
  return kind === 'retries' ? RETRY_TABLES : MULTIPLIED_TABLES;
}

export function requireCountable({ copies }: Multiplication): void {
  if (Number.isInteger(copies) && copies >= 1 && copies <= COPIES_MAX) return;
  throw new Error(`Copies are counted from 1 to ${COPIES_MAX}.`);
}

/** The table that holds the templates while they are copied. */
export function templateOf(table: MultipliedTable): string {
  return `template_${table}`;
}

/** The condition that selects the templates of a table. The template tables before it exist already. */
export function conditionOf({ kind, partition }: Multiplication, table: MultipliedTable): string {
  const isOfCustomer = partition === null ? 'TRUE' : `partition = ${partition}`;
  if (kind !== 'retries') return isOfCustomer;
  return table === 'attempts'
    ? `${isOfCustomer} AND delivery_id IN (SELECT id FROM ${templateOf('deliveries')})`
    : `${isOfCustomer} AND status = 'retry_scheduled'`;
}

/** `series` must be a table `copies (copy)` of the numbers from 0 on. */
export function multiplyingStatement(
  { kind }: Multiplication,
  table: MultipliedTable,
  columns: readonly string[],
  series: string,
): string {
  const values = columns.map((column) => copyOf(kind, table, column));
  return `INSERT INTO ${table} (${columns.join(', ')})
    SELECT ${values.join(', ')} FROM ${templateOf(table)} AS one CROSS JOIN ${series}`;
}

function copyOf(kind: MultiplicationKind, table: MultipliedTable, column: string): string {
  const name = `${table}.${column}`;
  const ids = kind === 'retries' ? RETRY_ID_COLUMNS : SCHEDULE_ID_COLUMNS;
  if (ids.has(name)) return copyOfId(`one.${column}`);
  if (kind === 'apart' && INSTANT_COLUMNS.has(name))
    return `one.${column} + copies.copy * ${COPIES_APART_MS}`;
  return `one.${column}`;
}

function copyOfId(column: string): string {
  const digits = Array.from({ length: COUNT_CHARACTERS }, (_, n) => {
    const weight = ALPHABET.length ** (COUNT_CHARACTERS - 1 - n);
    return `substr('${ALPHABET}', copies.copy / ${weight} % ${ALPHABET.length} + 1, 1)`;
  });
  const before = `substr(${column}, 1, ${TIME_END})`;
  const after = `substr(${column}, ${TIME_END + COUNT_CHARACTERS + 1})`;
  return [before, ...digits, after].join(' || ');
}
