/** The thread in which people's questions are asked, so that none of them holds up the one that fires. */
import { parentPort, workerData } from 'node:worker_threads';
import { isUnavailable, openForReading } from './connection.ts';
import type { InsightQuery, InsightResult } from './insight-reader.ts';
import { InsightReads } from './insight-reads.ts';

async function answerTo(reads: InsightReads, { name, parameters }: InsightQuery): Promise<InsightResult> {
  try {
    // The parameters are those of the question by this name: see `InsightAsker.ask`.
    const read: (...given: never[]) => unknown = reads[name];
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
  const answer = async (question: InsightQuery) => port.postMessage(await answerTo(reads, question));
  port.on('message', (message: InsightQuery | 'close') => {
    if (message !== 'close') return void answer(message);
    db.close();
    port.close();
  });
}
