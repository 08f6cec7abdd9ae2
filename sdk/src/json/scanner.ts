/**
 * Parses JSON in steps. A scanner passes each token to a sink and stops when its budget is used up. A long text can be
 * read in pieces, with other work between them. Nesting costs memory but no stack.
 *
 * The budget is counted in characters. A token counts as more characters than it has, because it costs more. Decoding
 * a single string or number is not divided: the runtime does it about as fast as copying.
 */

/** Receives the tokens of a text in their order. */
export interface JsonSink {
  openObject(): void;
  openArray(): void;
  /** Closes the innermost open object or array. */
  close(): void;
  /** Names the value that follows. */
  key(name: string): void;
  scalar(value: string | number | boolean | null): void;
}

/** The cost of a token, in characters of a string. */
const TOKEN_COST = 32;
/**
 * A string up to this length is sliced from the text, and the runtime copies it. A longer slice would keep the whole
 * text in memory, so longer strings are decoded instead.
 */
const SHORT_STRING_MAX = 12;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
const SPACE = 0x20;
const MINUS = 0x2d;
const DIGIT_0 = 0x30;
const DIGIT_9 = 0x39;

/** The tokens that the grammar allows next. */
type Expected = 'value' | 'value_or_end' | 'key' | 'key_or_end' | 'colon' | 'comma_or_end' | 'end_of_text';

const WORDS: readonly (readonly [word: string, value: boolean | null])[] = [
  ['true', true],
  ['false', false],
  ['null', null],
];
const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;

export class JsonScanner {
  readonly #text: string;
  readonly #sink: JsonSink;
  /** The open containers: true for an object, false for an array. */
  readonly #isObject: boolean[] = [];
  #expected: Expected = 'value';
  #at = 0;
  /** The position of the opening quote of an unfinished long string, or -1. */
  #stringFrom = -1;
  #budget = 0;

  constructor(text: string, sink: JsonSink) {
    this.#text = text;
    this.#sink = sink;
  }

  /** The number of characters read so far. */
  get position(): number {
    return this.#at;
  }

  /** Reads until the budget is used up. Returns true at the end of the text. Throws a SyntaxError if it is not JSON. */
  advance(budget: number): boolean {
    this.#budget = budget;
    while (this.#budget > 0) {
      if (this.#stringFrom >= 0) this.#longString();
      else if (this.#skipSpace()) {
        if (this.#at >= this.#text.length) return this.#end();
        this.#budget -= TOKEN_COST;
        this.#token(this.#text.charCodeAt(this.#at));
      }
    }
    return false;
  }

  /** Returns false if the budget is used up first. */
  #skipSpace(): boolean {
    const from = this.#at;
    const until = from + this.#budget;
    let at = from;
    while (at < until && isSpace(this.#text.charCodeAt(at))) at++;
    this.#at = at;
    this.#budget -= at - from;
    return at < until;
  }

  #end(): true {
    if (this.#expected !== 'end_of_text') throw new SyntaxError('Unexpected end of JSON input');
    return true;
  }

  #token(code: number): void {
    switch (this.#expected) {
      case 'value_or_end':
        if (code === CLOSE_BRACKET) this.#close();
        else this.#value(code);
        break;
      case 'value':
        this.#value(code);
        break;
      case 'key_or_end':
        if (code === CLOSE_BRACE) this.#close();
        else this.#key(code);
        break;
      case 'key':
        this.#key(code);
        break;
      case 'colon':
        if (code !== COLON) this.#refuse();
        this.#at++;
        this.#expected = 'value';
        break;
      case 'comma_or_end':
        this.#afterValue(code);
        break;
      case 'end_of_text':
        this.#refuse();
    }
  }

  #value(code: number): void {
    if (code === QUOTE) this.#string();
    else if (code === OPEN_BRACE) this.#open(true);
    else if (code === OPEN_BRACKET) this.#open(false);
    else if (code === MINUS || (code >= DIGIT_0 && code <= DIGIT_9)) this.#number();
    else this.#word();
  }

  #word(): void {
    const found = WORDS.find(([word]) => this.#text.startsWith(word, this.#at));
    if (found === undefined) this.#refuse();
    const [word, value] = found;
    this.#at += word.length;
    this.#scalar(value);
  }

  #key(code: number): void {
    if (code !== QUOTE) this.#refuse();
    this.#string();
  }

  #afterValue(code: number): void {
    const isObject = this.#isObject.at(-1) === true;
    if (code === COMMA) {
      this.#at++;
      this.#expected = isObject ? 'key' : 'value';
    } else if (code === (isObject ? CLOSE_BRACE : CLOSE_BRACKET)) this.#close();
    else this.#refuse();
  }

  #open(isObject: boolean): void {
    this.#at++;
    this.#isObject.push(isObject);
    this.#expected = isObject ? 'key_or_end' : 'value_or_end';
    if (isObject) this.#sink.openObject();
    else this.#sink.openArray();
  }

  #close(): void {
    this.#at++;
    this.#isObject.pop();
    this.#sink.close();
    this.#valueEnded();
  }

  #scalar(value: string | number | boolean | null): void {
    this.#sink.scalar(value);
    this.#valueEnded();
  }

  #valueEnded(): void {
    this.#expected = this.#isObject.length === 0 ? 'end_of_text' : 'comma_or_end';
  }

  #number(): void {
    NUMBER.lastIndex = this.#at;
    if (!NUMBER.test(this.#text)) this.#refuse();
    const digits = this.#text.slice(this.#at, NUMBER.lastIndex);
    this.#at = NUMBER.lastIndex;
    this.#budget -= digits.length;
    this.#scalar(Number(digits));
  }

  #string(): void {
    const from = this.#at + 1;
    const until = Math.min(from + SHORT_STRING_MAX, this.#text.length);
    for (let at = from; at < until; at++) {
      const code = this.#text.charCodeAt(at);
      if (code === QUOTE) {
        this.#stringEnded(this.#text.slice(from, at), at + 1);
        return;
      }
      if (code === BACKSLASH || code < SPACE) break;
    }
    this.#stringFrom = this.#at;
    this.#at = from;
  }

  /** Searches for the end of a string within the budget. The runtime decodes and checks the string. */
  #longString(): void {
    const from = this.#at;
    const until = Math.min(from + this.#budget, this.#text.length);
    let at = from;
    for (; at < until; at++) {
      const code = this.#text.charCodeAt(at);
      if (code === BACKSLASH) at++;
      else if (code === QUOTE) break;
    }
    this.#at = at;
    this.#budget -= at - from;
    if (this.#text.charCodeAt(at) === QUOTE && at < until) {
      const literal = this.#text.slice(this.#stringFrom, at + 1);
      this.#stringFrom = -1;
      this.#budget -= literal.length;
      // `JSON.parse` is safe for a single string: its bug is in the lookup of keys.
      this.#stringEnded(JSON.parse(literal) as string, at + 1);
    } else if (at >= this.#text.length) throw new SyntaxError('Unexpected end of JSON input');
  }

  #stringEnded(text: string, at: number): void {
    this.#at = at;
    if (this.#expected === 'key' || this.#expected === 'key_or_end') {
      this.#expected = 'colon';
      this.#sink.key(text);
    } else this.#scalar(text);
  }

  #refuse(): never {
    throw new SyntaxError(`Unexpected character in JSON at position ${this.#at}`);
  }
}

function isSpace(code: number): boolean {
  return code === SPACE || code === 0x0a || code === 0x0d || code === 0x09;
}
