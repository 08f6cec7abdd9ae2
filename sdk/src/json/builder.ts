/** Builds the value of a JSON text, exactly as `JSON.parse` is specified to. Bounds can limit it to a part. */
import type { JsonSink } from './scanner.ts';

/**
 * Limits how much of a value is built. The whole text is still checked. Very large objects cost more than memory: a
 * growing object is moved as a whole, and a deeply nested one delays the garbage collector.
 */
export interface JsonBounds {
  /** The maximum number of members of an array or object. */
  readonly membersMax: number;
  /** Members with these names are kept even beyond the maximum. */
  readonly always: ReadonlySet<string>;
  /** An array or object below this depth stays empty. */
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
  /** The open containers, with the key of the next value and the number of members of each. */
  readonly #open: Container[] = [];
  readonly #keys: string[] = [];
  readonly #members: number[] = [];
  /** The number of open containers below the maximum depth. */
  #tooDeep = 0;
  #isWhole = true;
  #value: unknown;

  constructor(bounds: JsonBounds = UNBOUNDED) {
    this.#bounds = bounds;
  }

  /** The value. It is complete when the whole text has been read. */
  get value(): unknown {
    return this.#value;
  }

  /** Whether the value is complete. It is false if bounds left out a part. */
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
      if (this.#canGrow(last)) container.push(value);
      return;
    }
    const key = this.#keys[last] ?? '';
    // A repeated key replaces its value and does not count as a further member.
    if (Object.hasOwn(container, key) || this.#bounds.always.has(key) || this.#canGrow(last)) {
      setMember(container, key, value);
    }
  }

  /** Counts a further member. Returns false if the container is full. */
  #canGrow(at: number): boolean {
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
  // An inherited name, such as `__proto__`, must become an own member.
  if (key in object) {
    Object.defineProperty(object, key, { value, writable: true, enumerable: true, configurable: true });
  } else object[key] = value;
}
