/**
 * Values by text, for the texts that were asked for lately. Only a copy of a text is kept, and a value is made from
 * that: the runtime cuts a text out of a larger one without copying it, and what is cut out would keep all of the
 * larger one in memory.
 */
const KNOWN_MAX = 1_024;

export class LatelyKnown<Value> {
  readonly #values = new Map<string, Value>();

  get(text: string): Value | undefined {
    return this.#values.get(text);
  }

  learn(text: string, make: (copy: string) => Value): Value {
    if (this.#values.size >= KNOWN_MAX) this.#values.clear();
    const copy = Buffer.from(text, 'utf16le').toString('utf16le');
    const value = make(copy);
    this.#values.set(copy, value);
    return value;
  }
}
