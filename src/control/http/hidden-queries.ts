/**
 * Hides the queries of URLs from viewers, since queries often contain credentials. Every string of an answer is
 * checked, so that no route can forget to. Only metadata stays as it is: it belongs to the customer and is not a
 * destination.
 *
 * The answer is JSON text already, and the objects behind it may be shared with users who see more. So the text itself
 * is changed, string by string. A long text is handled in slices, since this thread also sends deliveries.
 */

import type { YieldToEventLoop } from '#src/domain/json.ts';
import type { Role } from '#src/domain/role.ts';
import { maySeeQueries, withHiddenQuery } from '#src/domain/role.ts';
import type { Answer } from './route.ts';

/** Quotation marks in one slice, which takes about a millisecond. */
const SLICE_QUOTES = 10_000;
const METADATA = 'metadata';
/** Metadata contains only strings. One of these follows every string but the last. */
const METADATA_CONTINUES = [':"', ',"'];

export async function hideQueriesFrom(role: Role, answer: Answer, pause: YieldToEventLoop): Promise<Answer> {
  if (maySeeQueries(role)) return answer;
  const { body, comparedBody } = answer;
  const shown = { ...answer, body: await withHiddenQueries(body, pause) };
  if (comparedBody === undefined) return shown;
  return { ...shown, comparedBody: await withHiddenQueries(comparedBody, pause) };
}

async function withHiddenQueries(json: string, pause: YieldToEventLoop): Promise<string> {
  if (!json.includes('?')) return json;
  const hider = new QueryHider(json);
  while (!hider.advance(SLICE_QUOTES)) await pause();
  return hider.result;
}

/** Scans the text from one quotation mark to the next. */
class QueryHider {
  readonly #json: string;
  readonly #parts: string[] = [];
  #copiedTo = 0;
  #at = 0;
  /** The start of the string that is being read, after its opening quote. Null between strings. */
  #begin: number | null = null;
  #isInMetadata = false;

  constructor(json: string) {
    this.#json = json;
  }

  /** Returns true at the end of the text. */
  advance(quotes: number): boolean {
    for (let count = 0; count < quotes; count++) {
      const quote = this.#json.indexOf('"', this.#at);
      if (quote < 0) return true;
      this.#at = quote + 1;
      if (this.#begin === null) this.#begin = quote + 1;
      else if (!isEscaped(this.#json, quote)) this.#end(this.#begin, quote);
    }
    return false;
  }

  get result(): string {
    return this.#parts.join('') + this.#json.slice(this.#copiedTo);
  }

  #end(begin: number, end: number): void {
    this.#begin = null;
    if (this.#isInMetadata) {
      this.#isInMetadata = METADATA_CONTINUES.some((next) => this.#json.startsWith(next, end + 1));
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

function isEscaped(json: string, quote: number): boolean {
  let at = quote;
  while (json[at - 1] === '\\') at -= 1;
  return (quote - at) % 2 === 1;
}
