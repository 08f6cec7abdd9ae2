/**
 * Verbs that are carried out together, statement by statement for all of them. That is only right for verbs that
 * have nothing in common: those that write what another reads or writes go into a later wave of the same
 * transaction, so that all end as if one had come after the other.
 */
import type { Parameter, StatementName, Step } from '#src/store/sql/verbs.ts';
import type { Statement } from './statement-kinds.ts';

export type Verb = readonly Step[];
export type Statements = Readonly<Record<StatementName, Statement>>;

/** The rows of one statement, and whose step each of them is. */
export interface Group {
  readonly statement: Statement;
  /** For each row its parameters. */
  readonly rows: readonly (readonly Parameter[])[];
  /** For each row the verb, by its place in the batch. */
  readonly verbs: readonly number[];
}

/** Groups in the order of the statements. */
export type Wave = readonly Group[];

export function wavesOf(batch: readonly Verb[], statements: Statements): readonly Wave[] {
  const writtenIn = new Map<string, number>();
  const readIn = new Map<string, number>();
  const waves: number[][] = [];
  for (const [index, verb] of batch.entries()) {
    const uses = verb.map(([name, , ...parameters]) => use(statements[name], parameters));
    const wave = Math.max(
      0,
      ...uses.map(({ key, access }) => {
        const afterWrite = (writtenIn.get(key) ?? -1) + 1;
        return access === 'read' ? afterWrite : Math.max(afterWrite, (readIn.get(key) ?? -1) + 1);
      }),
    );
    for (const { key, access } of uses) {
      const seen = access === 'read' ? readIn : writtenIn;
      seen.set(key, Math.max(seen.get(key) ?? 0, wave));
    }
    const members = waves[wave] ?? [];
    members.push(index);
    waves[wave] = members;
  }
  return waves.map((members) => grouped(batch, members, statements));
}

function grouped(batch: readonly Verb[], members: readonly number[], statements: Statements): Wave {
  const groups = new Map<string, { rows: (readonly Parameter[])[]; verbs: number[] }>();
  for (const index of members) {
    for (const [name, , ...parameters] of batch[index] ?? []) {
      const group = groups.get(name) ?? { rows: [], verbs: [] };
      groups.set(name, group);
      group.rows.push(parameters);
      group.verbs.push(index);
    }
  }
  return Object.entries(statements).flatMap(([name, statement]) => {
    const group = groups.get(name);
    return group === undefined ? [] : [{ statement, ...inOrderOfKeys(statement, group) }];
  });
}

/** Rows are locked in the order in which they come: the same in every transaction. */
function inOrderOfKeys(
  statement: Statement,
  { rows, verbs }: { readonly rows: readonly (readonly Parameter[])[]; readonly verbs: readonly number[] },
): Pick<Group, 'rows' | 'verbs'> {
  if (rows.length === 1) return { rows, verbs };
  const keyed = rows.map((row, index) => ({ row, verb: verbs[index] ?? 0, key: keyText(statement, row) }));
  keyed.sort((one, other) => (one.key < other.key ? -1 : Number(one.key > other.key)));
  return { rows: keyed.map(({ row }) => row), verbs: keyed.map(({ verb }) => verb) };
}

function use(statement: Statement, parameters: readonly Parameter[]) {
  return { key: `${statement.table} ${keyText(statement, parameters)}`, access: statement.access };
}

/** What tells a row from the others of its statement. */
export function keyText({ key }: Pick<Statement, 'key'>, parameters: readonly Parameter[]): string {
  return keyOf(key.map((position) => parameters[position] ?? null));
}

export function keyOf(values: readonly unknown[]): string {
  return values
    .map((value) => (value instanceof Uint8Array ? Buffer.from(value).toString('hex') : String(value)))
    .join(' ');
}
