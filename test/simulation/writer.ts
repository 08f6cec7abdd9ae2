/**
 * The store's writer without its thread. It has the same queue and group commit, and runs on virtual time. A
 * batch is applied at one event and answered at a later one. A crash may come before either. The disk may
 * refuse a batch, or apply it and lose the answer.
 *
 * The verbs of a batch run one by one, so that every change can be observed. Nothing else happens between
 * them, so a batch is still all or nothing.
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

/** How a batch ended. */
export type BatchOutcome = 'kept' | 'refused' | 'answer_lost';

/** The simulation's decisions about the disk. */
export interface Disk {
  /** The time until a batch is applied, and from then until it is answered. */
  latencies(): readonly [toRun: number, toAnswer: number];
  outcome(): BatchOutcome;
  later(ms: number, act: () => void | Promise<void>): void;
  /** Returns the steps of a verb as they shall be applied. */
  alterSteps(steps: readonly Step[]): readonly Step[];
  /** One verb was applied and is durable. */
  verbApplied(steps: readonly Step[], answer: Answer): void;
  /** A batch was applied, but its callers do not know it yet. */
  batchApplied(outcome: BatchOutcome): void;
  /** The callers of the batch get their answers. */
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

  /** The writer is closed when it is idle, or by a crash. A crash loses what waits. */
  async close(): Promise<void> {
    this.#waiting = [];
    this.#inFlight = [];
    this.#executor.close();
  }
}
