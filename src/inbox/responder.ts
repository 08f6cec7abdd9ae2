/**
 * Decides how the inbox answers: 200 by default, or another answer that the developer sets for all requests
 * or for the next few.
 *
 * A request that hangs waits until another answer is set, and then gets that answer, or until its sender
 * gives up.
 */
import { Refusal } from '#src/domain/errors.ts';
import { readJson } from '#src/domain/json.ts';
import type { AnswerKind, AnswerMode } from './contract.ts';

export const ANSWERS: readonly AnswerKind[] = ['200', '500', 'hang', 'redirect'];
export const DEFAULT_MODE: AnswerMode = { answer: '200', times: null };
const TIMES_MAX = 100;
/** Bounds the requests that hang, because each holds a connection. */
const HANGING_MAX = 100;

export type Release = (answer: Exclude<AnswerKind, 'hang'>) => void;

export class Responder {
  readonly #hanging = new Set<Release>();
  #mode: AnswerMode = DEFAULT_MODE;

  get mode(): AnswerMode {
    return this.#mode;
  }

  setMode(mode: AnswerMode): void {
    this.#mode = mode;
    if (mode.answer !== 'hang') this.#releaseAll(mode.answer);
  }

  /** Returns the answer for one request. If too many requests hang already, it is an error. */
  next(): AnswerKind {
    const { answer, times } = this.#mode;
    if (times !== null) this.#mode = times > 1 ? { answer, times: times - 1 } : DEFAULT_MODE;
    return answer === 'hang' && this.#hanging.size >= HANGING_MAX ? '500' : answer;
  }

  /** Calls `release` when another answer is set. The returned function cancels that. */
  hang(release: Release): () => void {
    this.#hanging.add(release);
    return () => void this.#hanging.delete(release);
  }

  /** The service stops: requests that hang, and later ones, are answered with an error. */
  close(): void {
    this.setMode({ answer: '500', times: null });
  }

  #releaseAll(answer: Exclude<AnswerKind, 'hang'>): void {
    const hanging = [...this.#hanging];
    this.#hanging.clear();
    for (const release of hanging) release(answer);
  }
}

/** Reads the mode from the body of a request. */
export function readAnswerMode(body: unknown): AnswerMode {
  const given = Buffer.isBuffer(body) ? parse(body.toString()) : null;
  if (typeof given !== 'object' || given === null) throw new Refusal('invalid_json');
  const { answer: text, times = null } = given as { readonly answer?: unknown; readonly times?: unknown };
  const answer = ANSWERS.find((each) => each === text);
  if (answer === undefined) throw invalid('answer', `answer must be one of ${ANSWERS.join(', ')}.`);
  if (times !== null && !isCount(times))
    throw invalid('times', `times must be null, or from 1 to ${TIMES_MAX}.`);
  return { answer, times };
}

function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value >= 1 && value <= TIMES_MAX;
}

function parse(text: string): unknown {
  try {
    return readJson(text);
  } catch {
    return null;
  }
}

function invalid(param: string, message: string): Refusal {
  return new Refusal('invalid_request', param, message);
}
