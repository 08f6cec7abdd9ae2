/**
 * The form of the tables of common mistakes. Each mistake has the message that it gets. Where the message names a
 * correction, the corrected fields follow it.
 */
import type { Sending } from '#test/e2e/client.ts';

/** Status, code and param, separated by spaces. */
type Expected = string;

/** Mistakes in the fields of a body. */
export interface Mistakes {
  /** A valid body, or one that lacks only the fields of the mistake. */
  readonly on: object;
  readonly expected: Expected;
  /** The wrong fields are added to the body. Undefined removes a field. */
  readonly mistakes: readonly (readonly [fields: object, message: string, corrected?: object])[];
}

/** Mistakes that are not about a field of a body. */
export interface RequestMistakes {
  readonly expected: Expected;
  readonly mistakes: readonly (readonly [call: string, message: string, sending?: Sending])[];
}
