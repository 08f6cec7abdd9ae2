/** The vectors that the SDK ships. Every verifier is tested with the same file. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

export interface Vector {
  readonly name: string;
  /** `verified`, or the reason of the refusal. */
  readonly expected: string;
  /** The clock of the receiver, in Unix seconds. */
  readonly now: number;
  readonly secrets: readonly string[];
  readonly request: {
    readonly method: string;
    readonly url: string;
    readonly headers: Readonly<Record<string, string>>;
    /** The body in base64. */
    readonly body: string;
  };
}

export const VECTORS_FILE = join(import.meta.dirname, '../../sdk/vectors.json');
export const VECTORS = (
  JSON.parse(readFileSync(VECTORS_FILE, 'utf8')) as { readonly vectors: readonly Vector[] }
).vectors;
