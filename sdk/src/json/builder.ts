/** Builds the value of a JSON text, exactly as `JSON.parse` is specified to, or a part of it within bounds. */
import type { JsonSink } from './scanner.ts';

/**
 * How much of a value is built. The text is checked to its end all the same. Very large objects are not only large:
 * one that grows is moved as a whole, and one that is nested deep holds up the garbage collector.
 */
export interface JsonBounds {
  /** An array or object keeps so many members. */
  readonly membersMax: number;
  /** Names that an object keeps even beyond that. */
  readonly always: ReadonlySet<string>;
  /** An array or object that is nested deeper stays empty. */
  readonly depthMax: number;
}

const UNBOUNDED: JsonBounds = {
  membersMax: Number.POSITIVE_INFINITY,
  always: new Set(),
  depthMax: Number.POSITIVE_INFINITY,
};

type JsonObject = Record<string, unknown>;
type Container = unknown[] | JsonObject;

export class JsonBuilder implements JsonSink {
  readonly #bounds: JsonBounds;
  /** The containers that are open, and for each the key of its next value and how many members it has. */
  readonly #open: Container[] = [];
  readonly #keys: string[] = [];
  readonly #members: number[] = [];
  /** How many containers are open beyond the depth that is built. */
  #tooDeep = 0;
  #isWhole = true;
  #value: unknown;

  constructor(bounds: JsonBounds = UNBOUNDED) {
    this.#bounds = bounds;
  }

  /** The whole, once the text has been read to its end. */
  get value(): unknown {
    return this.#value;
  }

  /** False: bounds kept out a part of it. */
  get isWhole(): boolean {
    return this.#isWhole;
  }

  openObject(): void {
    this.#begin({});
  }

  openArray(): void {
    this.#begin([]);
  }

  close(): void {
    if (this.#tooDeep > 0) {
      this.#tooDeep--;
      return;
    }
    this.#open.pop();
    this.#keys.pop();
    this.#members.pop();
  }

  key(name: string): void {
    if (this.#tooDeep === 0) this.#keys[this.#keys.length - 1] = name;
  }

  scalar(value: string | number | boolean | null): void {
    if (this.#tooDeep === 0) this.#add(value);
  }

  #begin(container: Container): void {
    if (this.#tooDeep === 0) this.#add(container);
    if (this.#tooDeep > 0 || this.#open.length > this.#bounds.depthMax) {
      this.#tooDeep++;
      this.#isWhole = false;
      return;
    }
    this.#open.push(container);
    this.#keys.push('');
    this.#members.push(0);
  }

  #add(value: unknown): void {
    const last = this.#open.length - 1;
    const container = this.#open[last];
    if (container === undefined) {
      this.#value = value;
      return;
    }
    if (Array.isArray(container)) {
      if (this.#mayGrow(last)) container.push(value);
      return;
    }
    const key = this.#keys[last] ?? '';
    // A key that is given again takes no further place.
    if (Object.hasOwn(container, key) || this.#bounds.always.has(key) || this.#mayGrow(last)) {
      setMember(container, key, value);
    }
  }

  /** Counts a further member. False: there are as many as are kept. */
  #mayGrow(at: number): boolean {
    const members = this.#members[at] ?? 0;
    if (members >= this.#bounds.membersMax) {
      this.#isWhole = false;
      return false;
    }
    this.#members[at] = members + 1;
    return true;
  }
}

function setMember(object: JsonObject, key: string, value: unknown): void {
  // An inherited name, `__proto__` among them, becomes a member like any other.
  if (key in object) {
    Object.defineProperty(object, key, { value, writable: true, enumerable: true, configurable: true });
  } else object[key] = value;
}
