/**
 * The writing thread: the only writer of the service, so that waiting for the disk never holds up the
 * thread that fires. A message is a batch of verbs; they share one transaction and one fsync, each in a
 * savepoint of its own, and are answered together once the commit is on disk.
 */
import { parentPort, workerData } from 'node:worker_threads';
import { type Db, isUnavailable, openForWriting } from './connection.ts';
import { prepareControlWrites } from './control.ts';
import { prepareWrites } from './writes.ts';

export type Verbs = ReturnType<typeof prepareWrites> & ReturnType<typeof prepareControlWrites>;
export type Verb = keyof Verbs;

export interface Call {
  readonly verb: Verb;
  readonly argument: unknown;
}

/** `unavailable`: the disk or the file is at fault; nothing of the batch was stored. */
export type Answer =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly unavailable: boolean; readonly message: string };

export interface WriterData {
  readonly path: string;
  readonly maxPages: number | null;
}

export function runBatch(db: Db, verbs: Verbs, calls: readonly Call[]): readonly Answer[] {
  try {
    db.exec('BEGIN IMMEDIATE');
    const answers = calls.map((call) => runVerb(db, verbs, call));
    db.exec('COMMIT');
    return answers;
  } catch (error) {
    if (db.inTransaction) db.exec('ROLLBACK');
    const failure = failureOf(error);
    return calls.map(() => failure);
  }
}

function runVerb(db: Db, verbs: Verbs, call: Call): Answer {
  try {
    const verb = verbs[call.verb] as (argument: unknown) => unknown;
    return { ok: true, value: verb(call.argument) };
  } catch (error) {
    // A verb undoes itself; only when the disk fails, or SQLite gave up the transaction, do the others fail too.
    if (isUnavailable(error) || !db.inTransaction) throw error;
    return failureOf(error);
  }
}

function failureOf(error: unknown): Answer {
  return {
    ok: false,
    unavailable: isUnavailable(error),
    message: error instanceof Error ? error.message : String(error),
  };
}

if (parentPort !== null) {
  const port = parentPort;
  const { path, maxPages } = workerData as WriterData;
  const db = openForWriting(path);
  if (maxPages !== null) db.pragma(`max_page_count = ${maxPages}`);
  const verbs: Verbs = { ...prepareWrites(db), ...prepareControlWrites(db) };
  port.on('message', (calls: readonly Call[] | 'close') => {
    if (calls === 'close') {
      db.close();
      port.close();
      return;
    }
    port.postMessage(runBatch(db, verbs, calls));
  });
  port.postMessage('open');
}
