/**
 * Verbs that are carried out together, statement by statement for all of them. That is only right for verbs that
 * have nothing in common: those that write what another reads or writes go into a later wave of the same
 * transaction, so that all end as if one had come after the other.
 *
 * Rows are locked in the order of their keys, the same in every transaction, so that none of two waits for the
 * other. A statement keeps to it by the order of its rows. Where several statements of a wave change rows of one
 * table, those of all of them are locked ahead of the first.
 */
import type { Parameter, StatementName, Step } from '#src/store/sql/steps.ts';
import type { Statement } from './statement-kinds.ts';

export type Verb = readonly Step[];
export type Statements = Readonly<Record<StatementName, Statement>>;

/** Where a step's parameters begin: after its statement and its answer. */
const PARAMETERS = 2;

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

/** A step as it is carried out. */
interface Use {
  readonly name: StatementName;
  readonly parameters: readonly Parameter[];
  /** What tells its row from the others of its statement. */
  readonly key: string;
  /** The row, among those of all tables. */
  readonly row: string;
  readonly access: Statement['access'];
}

interface Member {
  readonly verb: number;
  readonly uses: readonly Use[];
}

export function wavesOf(batch: readonly Verb[], statements: Statements): readonly Wave[] {
  const writtenIn = new Map<string, number>();
  const readIn = new Map<string, number>();
  const waves: Member[][] = [];
  for (const [verb, steps] of batch.entries()) {
    const uses = steps.map((step) => use(step, statements));
    let wave = 0;
    for (const { row, access } of uses) {
      wave = Math.max(wave, (writtenIn.get(row) ?? -1) + 1);
      if (access === 'write') wave = Math.max(wave, (readIn.get(row) ?? -1) + 1);
    }
    for (const { row, access } of uses) {
      const seen = access === 'read' ? readIn : writtenIn;
      seen.set(row, Math.max(seen.get(row) ?? 0, wave));
    }
    const members = waves[wave] ?? [];
    members.push({ verb, uses });
    waves[wave] = members;
  }
  return waves.map((members) => grouped(members, statements));
}

function use(step: Step, statements: Statements): Use {
  const [name] = step;
  const statement = statements[name];
  const parameters = step.slice(PARAMETERS) as readonly Parameter[];
  const key = keyText(statement, parameters);
  return { name, parameters, key, row: `${statement.table} ${key}`, access: statement.access };
}

interface Keyed {
  readonly verb: number;
  readonly use: Use;
}

function grouped(members: readonly Member[], statements: Statements): Wave {
  const groups = new Map<StatementName, Keyed[]>();
  for (const { verb, uses } of members) {
    for (const one of uses) {
      const group = groups.get(one.name);
      if (group === undefined) groups.set(one.name, [{ verb, use: one }]);
      else group.push({ verb, use: one });
    }
  }
  const wave = (Object.keys(statements) as StatementName[]).flatMap((name): Wave => {
    const group = groups.get(name);
    if (group === undefined) return [];
    group.sort(byKey);
    return [
      {
        statement: statements[name],
        rows: group.map((keyed) => keyed.use.parameters),
        verbs: group.map((keyed) => keyed.verb),
      },
    ];
  });
  return locked(wave);
}

function byKey({ use: { key: one } }: Keyed, { use: { key: other } }: Keyed): number {
  return inOrder(one, other);
}

function inOrder(one: string, other: string): number {
  return one < other ? -1 : Number(one > other);
}

/** The wave, with what has to be locked ahead of it. */
function locked(wave: Wave): Wave {
  const changing = wave.filter(({ statement }) => statement.lock !== undefined);
  if (changing.length < 2) return wave;
  const byTable = Map.groupBy(changing, ({ statement }) => statement.table);
  return wave.flatMap((group) => {
    const together = byTable.get(group.statement.table) ?? [];
    const { lock } = group.statement;
    if (lock === undefined || together.length < 2 || together[0] !== group) return [group];
    return [lockOf(lock, together), group];
  });
}

function lockOf(statement: Statement, groups: readonly Group[]): Group {
  const rows = groups.flatMap((group) =>
    group.rows.map((row, index) => ({
      key: keyText(group.statement, row),
      parameters: group.statement.key.map((position) => row[position] ?? null),
      verb: group.verbs[index] ?? 0,
    })),
  );
  rows.sort((one, other) => inOrder(one.key, other.key));
  return { statement, rows: rows.map(({ parameters }) => parameters), verbs: rows.map(({ verb }) => verb) };
}

/** What tells a row from the others of its statement. */
export function keyText({ key }: Pick<Statement, 'key'>, parameters: readonly Parameter[]): string {
  let text = '';
  for (const position of key) text += `${wordOf(parameters[position] ?? null)} `;
  return text;
}

export function keyOf(values: readonly unknown[]): string {
  let text = '';
  for (const value of values) text += `${wordOf(value)} `;
  return text;
}

function wordOf(value: unknown): string {
  return value instanceof Uint8Array ? Buffer.from(value).toString('hex') : String(value);
}
