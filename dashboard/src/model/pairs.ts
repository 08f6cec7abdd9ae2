/** Rows with a name and a value, for headers and labels. */
export interface Pair {
  readonly name: string;
  readonly value: string;
}

export const LABELS_MAX = 50;
export const HEADERS_MAX = 100;

/** Ignores rows that are empty on both sides. */
export function recordOf(pairs: readonly Pair[]): Readonly<Record<string, string>> {
  return Object.fromEntries(filledPairs(pairs).map(({ name, value }) => [name.trim(), value]));
}

export function pairsOf(record: Readonly<Record<string, string>>): readonly Pair[] {
  return Object.entries(record).map(([name, value]) => ({ name, value }));
}

export function filledPairs(pairs: readonly Pair[]): readonly Pair[] {
  return pairs.filter(({ name, value }) => name.trim() !== '' || value !== '');
}

/** Errors that the service cannot find, since a record cannot contain them. */
export function findPairError(pairs: readonly Pair[], what: string): string | null {
  const names = filledPairs(pairs).map(({ name }) => name.trim());
  if (names.includes('')) return `Every ${what} needs a name.`;
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  return twice === undefined ? null : `The ${what} “${twice}” is used twice.`;
}
