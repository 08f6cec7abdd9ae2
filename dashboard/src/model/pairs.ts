/** Rows of a name and a value, as people type headers and labels. */
export interface Pair {
  readonly name: string;
  readonly value: string;
}

export const LABELS_MAX = 50;
export const HEADERS_MAX = 100;

/** A row that is empty on both sides is not there. */
export function recordOf(pairs: readonly Pair[]): Readonly<Record<string, string>> {
  return Object.fromEntries(filledPairs(pairs).map(({ name, value }) => [name.trim(), value]));
}

export function pairsOf(record: Readonly<Record<string, string>>): readonly Pair[] {
  return Object.entries(record).map(([name, value]) => ({ name, value }));
}

export function filledPairs(pairs: readonly Pair[]): readonly Pair[] {
  return pairs.filter(({ name, value }) => name.trim() !== '' || value !== '');
}

/** What cannot be told by the service, since a record cannot hold it. */
export function findPairError(pairs: readonly Pair[], what: string): string | null {
  const names = filledPairs(pairs).map(({ name }) => name.trim());
  if (names.includes('')) return `Give every ${what} a name.`;
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  return twice === undefined ? null : `The ${what} “${twice}” is there twice.`;
}
