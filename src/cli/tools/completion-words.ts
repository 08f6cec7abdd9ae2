/** Words of a completion script. They are of our own making (names, flags, choices), and are quoted all the same. */
import type { Values } from './completion-tree.ts';

/** In single quotes, for any shell. */
export function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

export function words(texts: readonly string[]): string {
  return quoted(texts.join(' '));
}

/** In a pattern for the lines of the file of contexts, as it is written: the names stand four in. */
export const CONTEXT_LINE = '^ {4}"([a-z0-9_-]+)": \\{';

/** Whether there is anything to offer. */
export function isKnown(values: Values): boolean {
  return values.length > 0;
}
