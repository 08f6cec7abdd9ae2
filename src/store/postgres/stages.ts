/**
 * Plans a batch of verbs as stages. Within a stage each statement runs once, for the rows of all verbs. This is
 * correct only for verbs that touch different rows. A verb that writes a row which an earlier verb reads or writes
 * goes into a later stage of the same transaction. The result is the same as if the verbs ran one after another.
 *
 * Rows are locked in the order of their keys, the same in every transaction, so that transactions do not deadlock. A
 * statement keeps this order by the order of its rows. Where several statements of a stage change one table, the
 * rows of all of them are locked first.
 *
 * A cold verb is not part of a batch. Its steps run one after another, so it must lock rows in that order itself.
 */

import type { StatementName } from '#src/store/sql/statement-names.ts';
import { SHARED_STATEMENTS } from '#src/store/sql/statements.ts';
import type { Parameter, Step } from '#src/store/sql/steps.ts';
import type { Statement } from './statement-builders.ts';

export type Verb = readonly Step[];
export type Statements = Readonly<Record<StatementName, Statement>>;

/** The parameters of a step come after its statement and its rejection. */
const PARAMETERS = 2;

/** The rows of one statement, and the verb that each row belongs to. */
export interface Group {
  readonly statement: Statement;
  /** The parameters of each row. */
  readonly rows: readonly (readonly Parameter[])[];
  /** The verb of each row, by its position in the batch. */
  readonly verbs: readonly number[];
}

/** Groups in the order in which their statements run. */
export type Stage = readonly Group[];

/** The last stages that read and wrote a row; NOT_YET if none did. */
interface RowAccess {
  readIn: number;
  writtenIn: number;
}

const NOT_YET = -1;

/** A step and the row that it uses. */
interface PlannedStep {
  readonly verb: number;
  readonly name: StatementName;
  readonly parameters: readonly Parameter[];
  /** Identifies the row within its table. */
  readonly key: string;
  readonly rowAccess: RowAccess;
  readonly access: Statement['access'];
}

type Groups = Map<StatementName, PlannedStep[]>;

/** Whether a verb has a shared statement. It runs in a transaction of its own. */
export function isCold(verb: Verb): boolean {
  return verb.some(([name]) => name in SHARED_STATEMENTS);
}

export function planStages(batch: readonly Verb[], statements: Statements): readonly Stage[] {
  const [verb = []] = batch;
  if (batch.length === 1 && isCold(verb)) return planColdVerb(verb, statements);
  const rowAccesses = new RowAccesses();
  const stages: Groups[] = [];
  for (const [verb, steps] of batch.entries()) {
    const planned = steps.map((step) => planStep(verb, step, statements, rowAccesses));
    let stage = 0;
    for (const { rowAccess, access } of planned) {
      stage = Math.max(stage, rowAccess.writtenIn + 1, access === 'write' ? rowAccess.readIn + 1 : 0);
    }
    const groups = stages[stage] ?? new Map<StatementName, PlannedStep[]>();
    stages[stage] = groups;
    for (const step of planned) {
      const { rowAccess } = step;
      if (step.access === 'read') rowAccess.readIn = Math.max(rowAccess.readIn, stage);
      else rowAccess.writtenIn = Math.max(rowAccess.writtenIn, stage);
      const group = groups.get(step.name);
      if (group === undefined) groups.set(step.name, [step]);
      else group.push(step);
    }
  }
  return stages.map((groups) => inStatementOrder(groups, statements));
}

/** The steps in their order, each for one row. Only steps of the same statement share a stage. */
function planColdVerb(verb: Verb, statements: Statements): readonly Stage[] {
  const stages: Group[][] = [];
  for (const [index, [name, , ...parameters]] of verb.entries()) {
    const group = { statement: statements[name], rows: [parameters], verbs: [0] };
    if (name === verb[index - 1]?.[0]) stages.at(-1)?.push(group);
    else stages.push([group]);
  }
  return stages;
}

/** The accesses to all rows, by table and key. */
class RowAccesses {
  readonly #tables = new Map<string, Map<string, RowAccess>>();

  of(table: string, key: string): RowAccess {
    let rows = this.#tables.get(table);
    if (rows === undefined) {
      rows = new Map();
      this.#tables.set(table, rows);
    }
    let rowAccess = rows.get(key);
    if (rowAccess === undefined) {
      rowAccess = { readIn: NOT_YET, writtenIn: NOT_YET };
      rows.set(key, rowAccess);
    }
    return rowAccess;
  }
}

function planStep(verb: number, step: Step, statements: Statements, rowAccesses: RowAccesses): PlannedStep {
  const [name] = step;
  const statement = statements[name];
  const parameters = step.slice(PARAMETERS) as readonly Parameter[];
  const key = rowKey(statement, parameters);
  const rowAccess = rowAccesses.of(statement.table, key);
  return { verb, name, parameters, key, rowAccess, access: statement.access };
}

function inStatementOrder(groups: Groups, statements: Statements): Stage {
  const stage = (Object.keys(statements) as StatementName[]).flatMap((name): Stage => {
    const planned = groups.get(name);
    if (planned === undefined) return [];
    planned.sort(byKey);
    return [
      {
        statement: statements[name],
        rows: planned.map(({ parameters }) => parameters),
        verbs: planned.map(({ verb }) => verb),
      },
    ];
  });
  return withLocks(stage);
}

function byKey({ key: one }: PlannedStep, { key: other }: PlannedStep): number {
  return inOrder(one, other);
}

function inOrder(one: string, other: string): number {
  return one < other ? -1 : Number(one > other);
}

/** Adds the locks that must come before the statements of the stage. */
function withLocks(stage: Stage): Stage {
  const changing = stage.filter(({ statement }) => statement.lock !== undefined);
  if (changing.length < 2) return stage;
  const byTable = Map.groupBy(changing, ({ statement }) => statement.table);
  return stage.flatMap((group) => {
    const together = byTable.get(group.statement.table) ?? [];
    const { lock } = group.statement;
    if (lock === undefined || together.length < 2 || together[0] !== group) return [group];
    return [lockOf(lock, together), group];
  });
}

function lockOf(statement: Statement, groups: readonly Group[]): Group {
  const rows = groups.flatMap((group) =>
    group.rows.map((row, index) => ({
      key: rowKey(group.statement, row),
      parameters: group.statement.key.map((position) => row[position] ?? null),
      verb: group.verbs[index] ?? 0,
    })),
  );
  rows.sort((one, other) => inOrder(one.key, other.key));
  return { statement, rows: rows.map(({ parameters }) => parameters), verbs: rows.map(({ verb }) => verb) };
}

/** Identifies a row within its statement. */
export function rowKey({ key }: Pick<Statement, 'key'>, parameters: readonly Parameter[]): string {
  let text = '';
  for (const position of key) text += `${wordOf(parameters[position] ?? null)} `;
  return text;
}

export function valuesKey(values: readonly unknown[]): string {
  let text = '';
  for (const value of values) text += `${wordOf(value)} `;
  return text;
}

function wordOf(value: unknown): string {
  return value instanceof Uint8Array ? Buffer.from(value).toString('hex') : String(value);
}
