/**
 * Plans the transaction of the first verbs of a batch. Each statement runs once, for the rows of all verbs. This is
 * correct only for verbs that touch different rows. A verb that writes a row which an earlier verb reads or writes
 * therefore waits for the next transaction, and so do all verbs behind it: verbs run in the order of the batch.
 *
 * Rows are locked in the order of their keys, the same in every transaction, so that transactions do not deadlock. A
 * statement keeps this order by the order of its rows. Where several statements of a stage change one table, the
 * rows of all of them are locked first.
 *
 * A cold verb has a shared statement (`store/sql/statements.ts`). It has a transaction of its own, where its steps run
 * one after another, so it must lock rows in that order itself.
 */

import type { StatementName } from '#src/store/sql/hot-statements.ts';
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

/** The transaction of the first verbs of a batch. */
export interface Plan {
  /** The number of verbs in it. */
  readonly count: number;
  /** These run one after another. */
  readonly stages: readonly Stage[];
}

/** A step and the row that it uses. */
interface PlannedStep {
  readonly verb: number;
  readonly name: StatementName;
  readonly parameters: readonly Parameter[];
  readonly table: string;
  /** Identifies the row within its table. */
  readonly key: string;
  readonly access: Statement['access'];
}

type Groups = Map<StatementName, PlannedStep[]>;

export function planStages(batch: readonly Verb[], statements: Statements): Plan {
  const isCold = (verb: Verb) => verb.some(([name]) => statements[name].isShared === true);
  const [first = []] = batch;
  if (isCold(first)) return { count: 1, stages: planColdVerb(first, statements) };
  const touched = new TouchedRows();
  const groups: Groups = new Map();
  let count = 0;
  for (const verb of batch) {
    if (isCold(verb)) break;
    const planned = verb.map((step) => planStep(count, step, statements));
    if (planned.some((step) => touched.conflictsWith(step))) break;
    for (const step of planned) {
      touched.add(step);
      const group = groups.get(step.name);
      if (group === undefined) groups.set(step.name, [step]);
      else group.push(step);
    }
    count++;
  }
  return { count, stages: [inStatementOrder(groups, statements)] };
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

/** How the verbs so far use each row, by table and key. */
class TouchedRows {
  readonly #tables = new Map<string, Map<string, Statement['access']>>();

  conflictsWith({ table, key, access }: PlannedStep): boolean {
    const before = this.#tables.get(table)?.get(key);
    return before === 'write' || (before === 'read' && access === 'write');
  }

  add({ table, key, access }: PlannedStep): void {
    let rows = this.#tables.get(table);
    if (rows === undefined) {
      rows = new Map();
      this.#tables.set(table, rows);
    }
    if (access === 'write' || !rows.has(key)) rows.set(key, access);
  }
}

function planStep(verb: number, step: Step, statements: Statements): PlannedStep {
  const [name] = step;
  const statement = statements[name];
  const parameters = step.slice(PARAMETERS) as readonly Parameter[];
  const { table, access } = statement;
  return { verb, name, parameters, table, key: rowKey(statement, parameters), access };
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
  const byTable = Map.groupBy(changing, ({ statement }) => statement.table);
  return stage.flatMap((group) => {
    const { lock, table, locksFirst } = group.statement;
    const together = byTable.get(table) ?? [];
    if (lock === undefined || together[0] !== group) return [group];
    return together.length > 1 || locksFirst === true ? [lockOf(lock, together), group] : [group];
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
