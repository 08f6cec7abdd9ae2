/**
 * The writing thread of the store, without the thread: the same queue and group commit, run by virtual time.
 * A batch is carried out at one event and answered at a later one; a crash may come before either. The disk
 * may also refuse a batch, or keep it and have its answer lost.
 *
 * The verbs of a batch are run one by one, so that every change can be seen by itself; nothing else happens
 * between them, so a batch is all or nothing here too.
 */
import { StoreUnavailable } from '#src/ports/store.ts';
import type { Rejection, Step } from '#src/store/sql/steps.ts';
import { type Answer, Executor, type WriterData } from '#src/store/sqlite/executor.ts';
import { answered, type WriteQueue } from '#src/store/sqlite/writer.ts';

type Answers = readonly ('done' | Rejection)[];

interface Call {
  readonly verbs: readonly (readonly Step[])[];
  readonly resolve: (answers: Answers) => void;
  readonly reject: (error: Error) => void;
}

/** What becomes of one batch. */
export type BatchOutcome = 'kept' | 'refused' | 'answer_lost';

/** What the simulation decides about the disk. */
export interface Disk {
  /** How long until a batch is carried out, and until it is answered after that. */
  latencies(): readonly [toRun: number, toAnswer: number];
  outcome(): BatchOutcome;
  later(ms: number, act: () => void | Promise<void>): void;
  /** The steps of a verb as they are to be carried out. */
  alterSteps(steps: readonly Step[]): readonly Step[];
  /** One verb was carried out and is durable. */
  verbApplied(steps: readonly Step[], answer: Answer): void;
  /** All of a batch was carried out, and nobody knows yet. */
  batchApplied(outcome: BatchOutcome): void;
  /** Now they know. */
  batchAnswered(outcome: BatchOutcome): void;
}

const BATCH_MAX = 256;

export class VirtualWriter implements WriteQueue {
  readonly #disk: Disk;
  readonly #executor: Executor;
  #waiting: Call[] = [];
  #inFlight: readonly Call[] = [];
  #isFailing = false;

  constructor(data: WriterData, disk: Disk) {
    this.#disk = disk;
    this.#executor = Executor.open(data);
  }

  get isFailing(): boolean {
    return this.#isFailing;
  }

  get isIdle(): boolean {
    return this.#inFlight.length === 0 && this.#waiting.length === 0;
  }

  async run<A extends Rejection>(steps: readonly Step[]): Promise<'done' | A> {
    const [answer = 'done'] = await this.runAll<A>([steps]);
    return answer;
  }

  runAll<A extends Rejection>(verbs: readonly (readonly Step[])[]): Promise<readonly ('done' | A)[]> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ verbs, resolve: resolve as Call['resolve'], reject });
      this.#send();
    });
  }

  #send(): void {
    if (this.#inFlight.length > 0 || this.#waiting.length === 0) return;
    this.#inFlight = this.#waiting.splice(0, BATCH_MAX);
    const [toRun, toAnswer] = this.#disk.latencies();
    this.#disk.later(toRun, () => {
      const outcome = this.#disk.outcome();
      const answers = outcome === 'refused' ? [] : this.#carryOut();
      this.#disk.batchApplied(outcome);
      this.#disk.later(toAnswer, () => this.#answer(outcome, answers));
    });
  }

  #carryOut(): readonly Answer[] {
    const answers: Answer[] = [];
    for (const asked of this.#inFlight.flatMap((call) => call.verbs)) {
      const steps = this.#disk.alterSteps(asked);
      const [answer = 'done'] = this.#executor.run([steps]);
      answers.push(answer);
      this.#disk.verbApplied(steps, answer);
    }
    return answers;
  }

  #answer(outcome: BatchOutcome, answers: readonly Answer[]): void {
    const done = this.#inFlight;
    this.#inFlight = [];
    this.#isFailing = outcome !== 'kept';
    this.#disk.batchAnswered(outcome);
    this.#send();
    let at = 0;
    for (const { verbs, resolve, reject } of done) {
      const own =
        outcome === 'kept'
          ? answered(answers.slice(at, at + verbs.length))
          : new StoreUnavailable(`Simulated: ${outcome}.`);
      at += verbs.length;
      if (own instanceof Error) reject(own);
      else resolve(own);
    }
  }

  /** Only ever closed when idle, or by a crash: what waits is lost then. */
  async close(): Promise<void> {
    this.#waiting = [];
    this.#inFlight = [];
    this.#executor.close();
  }
}
