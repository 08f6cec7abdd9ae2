/** `node bench/stored/multiply-sqlite.ts FILE MULTIPLICATION` runs as a process, because it is busy for minutes. */
import Database from 'better-sqlite3';
import {
  conditionOf,
  type Multiplication,
  type MultipliedTable,
  multiplyingStatement,
  requireCountable,
  tablesOf,
  templateOf,
} from './multiply.ts';

const CACHE_KB = 512 * 1024;
/** Threads that sort the rows of an index in memory. */
const SORT_THREADS = 2;

function multiply(db: Database.Database, multiplication: Multiplication): void {
  // After a crash of the machine the benchmark starts again, so no write has to be durable.
  db.pragma('journal_mode = OFF');
  db.pragma('synchronous = OFF');
  db.pragma('locking_mode = EXCLUSIVE');
  db.pragma(`cache_size = -${CACHE_KB}`);
  db.pragma(`threads = ${SORT_THREADS}`);
  for (const table of tablesOf(multiplication)) multiplyTable(db, table, multiplication);
  db.pragma('locking_mode = NORMAL');
  db.pragma('synchronous = FULL');
  db.pragma('journal_mode = WAL');
}

function multiplyTable(db: Database.Database, table: MultipliedTable, multiplication: Multiplication): void {
  const columns = db
    .prepare('SELECT name FROM pragma_table_info(?) ORDER BY cid')
    .pluck()
    .all(table) as string[];
  const condition = conditionOf(multiplication, table);
  const indexes = db
    .prepare("SELECT name, sql FROM sqlite_schema WHERE type = 'index' AND tbl_name = ? AND sql IS NOT NULL")
    .all(table) as { readonly name: string; readonly sql: string }[];
  for (const { name } of indexes) db.exec(`DROP INDEX ${name}`);
  // Rows are inserted in the order of their ids, as the service would have done.
  db.exec(
    `CREATE TEMP TABLE ${templateOf(table)} AS SELECT * FROM ${table} WHERE ${condition} ORDER BY 1, 2`,
  );
  db.exec(`DELETE FROM ${table} WHERE ${condition}`);
  const series = `(WITH RECURSIVE counting (copy) AS (
    SELECT 0 UNION ALL SELECT copy + 1 FROM counting WHERE copy < ${multiplication.copies - 1}
  ) SELECT copy FROM counting) AS copies`;
  db.exec(multiplyingStatement(multiplication, table, columns, series));
  for (const { sql } of indexes) db.exec(sql);
}

const [file = '', asked = ''] = process.argv.slice(2);
const multiplication = JSON.parse(asked) as Multiplication;
requireCountable(multiplication);
const db = new Database(file, { fileMustExist: true });
try {
  multiply(db, multiplication);
} finally {
  db.close();
}
