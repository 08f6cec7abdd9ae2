/** The vectors as the SDK ships them: every verifier is held against the same file. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

export interface Vector {
  readonly name: string;
  /** `verified`, or the reason why not. */
  readonly expected: string;
  /** The receiver's clock, in Unix seconds. */
  readonly now: number;
  readonly secrets: readonly string[];
  readonly request: {
    readonly method: string;
    readonly url: string;
    readonly headers: Readonly<Record<string, string>>;
    /** In base64. */
    readonly body: string;
  };
}

export const VECTORS_FILE = join(import.meta.dirname, '../../sdk/vectors.json');
export const VECTORS = (
  JSON.parse(readFileSync(VECTORS_FILE, 'utf8')) as { readonly vectors: readonly Vector[] }
).vectors;
