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

import type { Partition } from '#src/domain/project.ts';
import type { StatementName } from '#src/store/sql/hot-statements.ts';
import type { Parameter, Step } from '#src/store/sql/steps.ts';
import type { Statement } from './statement-builders.ts';

export type Verb = readonly Step[];
export type Statements = Readonly<Record<StatementName, Statement>>;

/** The parameters of a step come after its statement and its rejection. */
const PARAMETERS = 2;

/** The row that a step of a verb uses. */
export interface Row {
  readonly verb: Verb;
  readonly step: Step;
  readonly parameters: readonly Parameter[];
  /** The table and the key of the row. */
  readonly place: string;
}

/** The rows of one statement. Those of several verbs are in the order of their keys. */
export interface Group {
  readonly statement: Statement;
  readonly rows: readonly Row[];
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

export function planStages(batch: readonly Verb[], statements: Statements): Plan {
  const isCold = (verb: Verb) => verb.some(([name]) => statements[name].isShared === true);
  const [first = []] = batch;
  if (isCold(first)) return { count: 1, stages: planColdVerb(first, statements) };
  const accesses = new Map<string, Statement['access']>();
  const rowsOf = new Map<StatementName, Row[]>();
  let count = 0;
  for (const verb of batch) {
    if (isCold(verb)) break;
    const rows = verb.map((step) => rowOf(verb, step, statements[step[0]]));
    if (rows.some(({ step, place }) => isConflict(accesses.get(place), statements[step[0]].access))) break;
    for (const row of rows) {
      const [name] = row.step;
      const { access } = statements[name];
      if (access === 'write' || !accesses.has(row.place)) accesses.set(row.place, access);
      const others = rowsOf.get(name);
      if (others === undefined) rowsOf.set(name, [row]);
      else others.push(row);
    }
    count++;
  }
  return { count, stages: [inStatementOrder(rowsOf, statements)] };
}

/** The steps in their order, each for one row. Only steps of the same statement share a stage. */
function planColdVerb(verb: Verb, statements: Statements): readonly Stage[] {
  const stages: Group[][] = [];
  for (const [index, step] of verb.entries()) {
    const statement = statements[step[0]];
    const group = { statement, rows: [rowOf(verb, step, statement)] };
    if (step[0] === verb[index - 1]?.[0]) stages.at(-1)?.push(group);
    else stages.push([group]);
  }
  return stages;
}

function rowOf(verb: Verb, step: Step, { table, key }: Statement): Row {
  const parameters = step.slice(PARAMETERS) as readonly Parameter[];
  return { verb, step, parameters, place: `${table} ${rowKey(parameters, key)}` };
}

function isConflict(before: Statement['access'] | undefined, access: Statement['access']): boolean {
  return before === 'write' || (before === 'read' && access === 'write');
}

function inStatementOrder(rowsOf: ReadonlyMap<StatementName, Row[]>, statements: Statements): Stage {
  const stage = (Object.keys(statements) as StatementName[]).flatMap((name): Stage => {
    const rows = rowsOf.get(name);
    return rows === undefined ? [] : [{ statement: statements[name], rows: rows.sort(byPlace) }];
  });
  return withLocks(stage);
}

function byPlace({ place: one }: Row, { place: other }: Row): number {
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

function lockOf(lock: Statement, groups: readonly Group[]): Group {
  const rows = groups.flatMap(({ statement, rows }) =>
    rows.map((row) => ({
      ...row,
      parameters: statement.key.map((position) => row.parameters[position] ?? null),
    })),
  );
  return { statement: lock, rows: rows.sort(byPlace) };
}

/** The partition of a verb whose transaction must be about one partition; null for any other verb. */
export function partitionOf(verb: Verb, statements: Statements): Partition | null {
  for (const step of verb) {
    const { partitionAt } = statements[step[0]];
    if (partitionAt !== undefined) return step[PARAMETERS + partitionAt] as Partition;
  }
  return null;
}

/** Identifies a row by the values at these positions. */
export function rowKey(values: readonly unknown[], positions: readonly number[]): string {
  let text = '';
  for (const position of positions) text += `${wordOf(values[position] ?? null)} `;
  return text;
}

function wordOf(value: unknown): string {
  return value instanceof Uint8Array ? Buffer.from(value).toString('hex') : String(value);
}
