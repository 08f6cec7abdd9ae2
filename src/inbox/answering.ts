/**
 * What the inbox answers with: a 200 until somebody chooses otherwise, for all requests or for the next few.
 *
 * A request that is left hanging waits for the next choice, and is then answered by it; or for its sender to
 * give up.
 */
export const ANSWERS = ['200', '500', 'hang', 'redirect'] as const;
export type AnswerKind = (typeof ANSWERS)[number];

export interface Choice {
  readonly answer: AnswerKind;
  /** How many requests it is for; null: for all until the next choice. */
  readonly times: number | null;
}

export const FIRST_CHOICE: Choice = { answer: '200', times: null };
export const TIMES_MAX = 100;
/** Each holds a connection. */
const HANGING_MAX = 100;

export type Release = (answer: Exclude<AnswerKind, 'hang'>) => void;

export class Answering {
  readonly #hanging = new Set<Release>();
  #choice: Choice = FIRST_CHOICE;

  get choice(): Choice {
    return this.#choice;
  }

  choose(choice: Choice): void {
    this.#choice = choice;
    if (choice.answer !== 'hang') this.#releaseAll(choice.answer);
  }

  /** For one request. Where too many hang already, it is answered with an error. */
  take(): AnswerKind {
    const { answer, times } = this.#choice;
    if (times !== null) this.#choice = times > 1 ? { answer, times: times - 1 } : FIRST_CHOICE;
    return answer === 'hang' && this.#hanging.size >= HANGING_MAX ? '500' : answer;
  }

  /** Calls `release` when there is an answer after all; the answer forgets about it. */
  hang(release: Release): () => void {
    this.#hanging.add(release);
    return () => void this.#hanging.delete(release);
  }

  /** The service stops: nobody is left hanging, now or later. */
  end(): void {
    this.choose({ answer: '500', times: null });
  }

  #releaseAll(answer: Exclude<AnswerKind, 'hang'>): void {
    const hanging = [...this.#hanging];
    this.#hanging.clear();
    for (const release of hanging) release(answer);
  }
}
