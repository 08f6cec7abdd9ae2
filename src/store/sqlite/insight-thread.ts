/** The thread that runs dashboard queries, so that the engine's thread does not wait for them. */
import { parentPort, workerData } from 'node:worker_threads';
import type { Query } from '#src/store/sql/query.ts';
import { openForReading } from './connection.ts';
import { failureOf } from './errors.ts';
import type { InsightResult } from './insight-reader.ts';
import { PreparedQueries } from './prepared-queries.ts';

function resultOf(queries: PreparedQueries, { sql, parameters }: Query): InsightResult {
  try {
    return { rows: queries.all(sql, ...parameters) };
  } catch (error) {
    return failureOf(error);
  }
}

if (parentPort !== null) {
  const port = parentPort;
  const { path } = workerData as { readonly path: string };
  const db = openForReading(path);
  const queries = new PreparedQueries(db);
  port.on('message', (message: Query | 'close') => {
    if (message !== 'close') port.postMessage(resultOf(queries, message));
    else {
      db.close();
      port.close();
    }
  });
}
