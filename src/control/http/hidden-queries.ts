/**
 * This module hides the queries of URLs from viewers, since they are often credentials. Every text in an answer is
 * looked at, whichever field it is in, so that no route can forget to. Metadata alone stays as it is: it is the
 * customer's own and no destination.
 *
 * The answer is JSON text already, and what it is made of may be shared with people who see more: so the text is
 * changed, string by string. A long one is worked through in slices, since this is the thread that fires.
 */

import type { YieldToEventLoop } from '#src/domain/json.ts';
import type { Role } from '#src/domain/role.ts';
import { maySeeQueries, withHiddenQuery } from '#src/domain/role.ts';
import type { Answer } from './route.ts';

/** A slice has this many quotation marks, and takes about a millisecond. */
const SLICE_STEPS = 10_000;
const METADATA = 'metadata';
/** Metadata has texts alone: this follows each that is not the last one. */
const IN_METADATA = [':"', ',"'];

export async function hideQueriesFrom(role: Role, answer: Answer, pause: YieldToEventLoop): Promise<Answer> {
  if (maySeeQueries(role)) return answer;
  const { body, comparedBody: news } = answer;
  const shown = { ...answer, body: await withHiddenQueries(body, pause) };
  return news === undefined ? shown : { ...shown, comparedBody: await withHiddenQueries(news, pause) };
}

async function withHiddenQueries(json: string, pause: YieldToEventLoop): Promise<string> {
  if (!json.includes('?')) return json;
  const text = new QueryHider(json);
  while (!text.advance(SLICE_STEPS)) await pause();
  return text.result;
}

/** Walks from one quotation mark to the next. */
class QueryHider {
  readonly #json: string;
  readonly #parts: string[] = [];
  #copiedTo = 0;
  #at = 0;
  /** The position behind the opening mark of the string that is being read; null between strings. */
  #begin: number | null = null;
  #isInMetadata = false;

  constructor(json: string) {
    this.#json = json;
  }

  /** Returns true once it is at the end. */
  advance(steps: number): boolean {
    for (let step = 0; step < steps; step++) {
      const mark = this.#json.indexOf('"', this.#at);
      if (mark < 0) return true;
      this.#at = mark + 1;
      if (this.#begin === null) this.#begin = mark + 1;
      else if (!isEscaped(this.#json, mark)) this.#end(this.#begin, mark);
    }
    return false;
  }

  get result(): string {
    return this.#parts.join('') + this.#json.slice(this.#copiedTo);
  }

  #end(begin: number, end: number): void {
    this.#begin = null;
    if (this.#isInMetadata) {
      this.#isInMetadata = IN_METADATA.some((next) => this.#json.startsWith(next, end + 1));
      return;
    }
    const text = this.#json.slice(begin, end);
    if (text === METADATA && this.#json.startsWith(':{"', end + 1)) {
      this.#isInMetadata = true;
      return;
    }
    const shown = withHiddenQuery(text);
    if (shown === text) return;
    this.#parts.push(this.#json.slice(this.#copiedTo, begin), shown);
    this.#copiedTo = end;
  }
}

function isEscaped(json: string, mark: number): boolean {
  let at = mark;
  while (json[at - 1] === '\\') at -= 1;
  return (mark - at) % 2 === 1;
}
