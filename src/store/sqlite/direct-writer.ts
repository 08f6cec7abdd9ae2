/**
 * Writes in the thread of the caller, for a process that has nothing else to do: a command. Starting a thread takes
 * longer than most commands.
 */
import { StoreUnavailable } from '#src/ports/store.ts';
import type { Rejection } from '#src/store/sql/steps.ts';
import { type Batch, Executor, type SqliteStep, type WriterData } from './executor.ts';
import { answered, type WriteQueue } from './writer.ts';

export class DirectWriter implements WriteQueue {
  readonly #executor: Executor;
  #isClosed = false;
  isFailing = false;

  constructor(data: WriterData) {
    this.#executor = Executor.open(data);
  }

  async run<A extends Rejection>(steps: readonly SqliteStep[]): Promise<'done' | A> {
    const [answer = 'done'] = await this.runAll<A>([steps]);
    return answer;
  }

  async runAll<A extends Rejection>(verbs: Batch): Promise<readonly ('done' | A)[]> {
    if (this.#isClosed) throw new StoreUnavailable('The store is closed.');
    if (verbs.length === 0) return [];
    const answers = answered(this.#executor.run(verbs));
    this.isFailing = answers instanceof StoreUnavailable;
    if (answers instanceof Error) throw answers;
    return answers as readonly ('done' | A)[];
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#executor.close();
  }
}
