/** The thread that runs dashboard queries, so that the engine's thread does not wait for them. */
import { parentPort, workerData } from 'node:worker_threads';
import { openForReading } from './connection.ts';
import { isUnavailable } from './errors.ts';
import type { InsightQuery, InsightResult } from './insight-reader.ts';
import { InsightReads } from './insight-reads.ts';

async function resultOf(reads: InsightReads, { name, parameters }: InsightQuery): Promise<InsightResult> {
  try {
    // The parameters belong to the query of this name: `InsightReader.query` checks their types.
    const read: (...parameters: never[]) => unknown = reads[name];
    return { answer: await Reflect.apply(read, reads, parameters) };
  } catch (error) {
    return {
      failed: error instanceof Error ? error.message : String(error),
      unavailable: isUnavailable(error),
    };
  }
}

if (parentPort !== null) {
  const port = parentPort;
  const { path } = workerData as { readonly path: string };
  const db = openForReading(path);
  const reads = new InsightReads(db);
  const answer = async (query: InsightQuery) => port.postMessage(await resultOf(reads, query));
  port.on('message', (message: InsightQuery | 'close') => {
    if (message !== 'close') return void answer(message);
    db.close();
    port.close();
  });
}
