/**
 * Many schedules out of a few. Those few were created through the interface, so that every row is as the service
 * writes it; here each is copied so many times by the database itself, which takes minutes where creating takes
 * hours. A copy differs in its ids and in its instant alone:
 *
 * - An id keeps the part that says when it was created, so that ids still sort by creation. Of the random part the
 *   first characters count the copies. The last ones stay: ids made in one millisecond differ in nothing else.
 * - A payload stays as it is, sealed for another id: it could not be opened. None is, they are due in a year.
 *
 * The statements are read by SQLite and by PostgreSQL alike. Tables are emptied of the few first, and indexes are
 * made when all rows are there, from the definitions that the database itself gives: what it has at the end is what
 * the service made.
 *
 * Copies may share the instant of their template: many are then due at one millisecond. Where a copy has to be sent,
 * its template has neither headers nor body, and so no payload. Deliveries that wait for a retry are multiplied with
 * their attempts and keep their schedule: the templates are replays of one delivery, which share its key.
 */

export const MULTIPLIED_TABLES = ['schedules', 'deliveries', 'payloads', 'schedule_labels'] as const;
const RETRY_TABLES = ['deliveries', 'attempts'] as const;
export type MultipliedTable = (typeof MULTIPLIED_TABLES)[number] | (typeof RETRY_TABLES)[number];

export const MULTIPLICATION_KINDS = ['apart', 'together', 'retries'] as const;
/** Schedules whose instants lie apart, schedules that share their template's instant, or waiting retries. */
export type MultiplicationKind = (typeof MULTIPLICATION_KINDS)[number];

export interface Multiplication {
  readonly kind: MultiplicationKind;
  readonly copies: number;
  /** The rows of one customer; null multiplies those of all. */
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
/** As many as the characters can count. */
export const COPIES_MAX = ALPHABET.length ** COUNT_CHARACTERS;
/** `sch_` and ten characters of time; those of a delivery are as long. */
const TIME_END = 14;
/** Between a copy and the next, so that all of them are due in the course of days. */
const COPIES_APART_MS = 37_021;

/** In the order in which they are multiplied. */
export function tablesOf({ kind }: Multiplication): readonly MultipliedTable[] {
  return kind === 'retries' ? RETRY_TABLES : MULTIPLIED_TABLES;
}

export function requireCountable({ copies }: Multiplication): void {
  if (Number.isInteger(copies) && copies >= 1 && copies <= COPIES_MAX) return;
  throw new Error(`Copies are counted from 1 to ${COPIES_MAX}.`);
}

/** Where the few are while they are copied. */
export function templateOf(table: MultipliedTable): string {
  return `template_${table}`;
}

/** Which rows of the table are the few. The templates of the tables before it are there already. */
export function conditionOf({ kind, partition }: Multiplication, table: MultipliedTable): string {
  const isOfCustomer = partition === null ? 'TRUE' : `partition = ${partition}`;
  if (kind !== 'retries') return isOfCustomer;
  return table === 'attempts'
    ? `${isOfCustomer} AND delivery_id IN (SELECT id FROM ${templateOf('deliveries')})`
    : `${isOfCustomer} AND status = 'retry_scheduled'`;
}

/** Takes `series`, a table of the numbers 0 and up, as `copies (copy)`. */
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
