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

/** In which waves a row is used so far; NOT_YET in none. */
interface Touch {
  readIn: number;
  writtenIn: number;
}

const NOT_YET = -1;

/** A step as it is carried out. */
interface Use {
  readonly verb: number;
  readonly name: StatementName;
  readonly parameters: readonly Parameter[];
  /** What tells its row from the others of its table. */
  readonly key: string;
  readonly touch: Touch;
  readonly access: Statement['access'];
}

type Groups = Map<StatementName, Use[]>;

export function wavesOf(batch: readonly Verb[], statements: Statements): readonly Wave[] {
  const touches = new Touches();
  const waves: Groups[] = [];
  for (const [verb, steps] of batch.entries()) {
    const uses = steps.map((step) => useOf(verb, step, statements, touches));
    let wave = 0;
    for (const { touch, access } of uses) {
      wave = Math.max(wave, touch.writtenIn + 1, access === 'write' ? touch.readIn + 1 : 0);
    }
    const groups = waves[wave] ?? new Map<StatementName, Use[]>();
    waves[wave] = groups;
    for (const use of uses) {
      const { touch } = use;
      if (use.access === 'read') touch.readIn = Math.max(touch.readIn, wave);
      else touch.writtenIn = Math.max(touch.writtenIn, wave);
      const group = groups.get(use.name);
      if (group === undefined) groups.set(use.name, [use]);
      else group.push(use);
    }
  }
  return waves.map((groups) => inStatementOrder(groups, statements));
}

/** Of the rows of every table, by their keys. */
class Touches {
  readonly #tables = new Map<string, Map<string, Touch>>();

  of(table: string, key: string): Touch {
    let rows = this.#tables.get(table);
    if (rows === undefined) {
      rows = new Map();
      this.#tables.set(table, rows);
    }
    let touch = rows.get(key);
    if (touch === undefined) {
      touch = { readIn: NOT_YET, writtenIn: NOT_YET };
      rows.set(key, touch);
    }
    return touch;
  }
}

function useOf(verb: number, step: Step, statements: Statements, touches: Touches): Use {
  const [name] = step;
  const statement = statements[name];
  const parameters = step.slice(PARAMETERS) as readonly Parameter[];
  const key = keyText(statement, parameters);
  const touch = touches.of(statement.table, key);
  return { verb, name, parameters, key, touch, access: statement.access };
}

function inStatementOrder(groups: Groups, statements: Statements): Wave {
  const wave = (Object.keys(statements) as StatementName[]).flatMap((name): Wave => {
    const uses = groups.get(name);
    if (uses === undefined) return [];
    uses.sort(byKey);
    return [
      {
        statement: statements[name],
        rows: uses.map(({ parameters }) => parameters),
        verbs: uses.map(({ verb }) => verb),
      },
    ];
  });
  return locked(wave);
}

function byKey({ key: one }: Use, { key: other }: Use): number {
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
