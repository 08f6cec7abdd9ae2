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
  #value: unknown;

  constructor(bounds: JsonBounds = UNBOUNDED) {
    this.#bounds = bounds;
  }

  /** The whole, once the text has been read to its end. */
  get value(): unknown {
    return this.#value;
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
    const members = this.#members[last] ?? 0;
    const key = this.#keys[last] ?? '';
    if (members >= this.#bounds.membersMax && !this.#isKept(container, key)) return;
    this.#members[last] = members + 1;
    if (Array.isArray(container)) container.push(value);
    else addMember(container, key, value);
  }

  #isKept(container: Container, key: string): boolean {
    if (Array.isArray(container)) return false;
    return this.#bounds.always.has(key) || Object.hasOwn(container, key);
  }
}

function addMember(object: JsonObject, key: string, value: unknown): void {
  // An inherited name, `__proto__` among them, becomes a member like any other.
  if (key in object) {
    Object.defineProperty(object, key, { value, writable: true, enumerable: true, configurable: true });
  } else object[key] = value;
}
