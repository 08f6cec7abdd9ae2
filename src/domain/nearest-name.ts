/** Finds the name that a misspelt one was meant to be. The cost is bounded, because a caller can ask for it with every request. */

/** A longer text is not a misspelt name. */
const TEXT_CHARACTERS_MAX = 40;
/** More than one wrong character in three is another name. */
const CHARACTERS_PER_MISTAKE = 3;
const MISTAKES_MAX = 3;

export class Names<T extends string> {
  /** The names with the text that is compared, in the given order. */
  readonly #names: readonly (readonly [plain: string, name: T])[];

  constructor(names: Iterable<T>) {
    this.#names = [...names].map((name) => [plain(name), name] as const);
  }

  /** Returns the name with the fewest mistakes, or null if none is near. Case, spaces and dashes do not count. */
  nearest(text: string): T | null {
    if (text.length > TEXT_CHARACTERS_MAX) return null;
    const wanted = plain(text);
    // The limit is one above the mistakes that are still allowed. It falls with every name that is nearer.
    let below = Math.min(MISTAKES_MAX, Math.floor(wanted.length / CHARACTERS_PER_MISTAKE)) + 1;
    let nearest: T | null = null;
    for (const [candidate, name] of this.#names) {
      if (Math.abs(candidate.length - wanted.length) >= below) continue;
      const mistakes = editDistance(wanted, candidate, below - 1);
      if (mistakes >= below) continue;
      nearest = name;
      below = mistakes;
      if (below === 0) break;
    }
    return nearest;
  }
}

/** Does the same for names that are compared only once. */
export function nearestName<T extends string>(text: string, names: Iterable<T>): T | null {
  return new Names(names).nearest(text);
}

function plain(text: string): string {
  return text.toLowerCase().replaceAll(/[ _-]/g, '');
}

/** The rows of the table are used again, because a new one for each name would cost more than the comparison. */
const WIDTH = 2 * TEXT_CHARACTERS_MAX;
const ROWS = [new Uint8Array(WIDTH), new Uint8Array(WIDTH), new Uint8Array(WIDTH)] as const;

/**
 * Returns the smallest number of characters to insert, remove, replace or swap. Any number above `max` means that there
 * are more. Only cells within `max` of the diagonal are computed.
 */
export function editDistance(one: string, other: string, max: number): number {
  if (other.length >= WIDTH || Math.abs(one.length - other.length) > max) return max + 1;
  let [twoUp, up, row] = ROWS;
  for (let column = 0; column <= other.length; column++) row[column] = column;
  for (let at = 1; at <= one.length; at++) {
    [twoUp, up, row] = [up, row, twoUp];
    const from = Math.max(1, at - max);
    const to = Math.min(other.length, at + max);
    let best = from === 1 ? at : max + 1;
    row[from - 1] = best;
    for (let column = from; column <= to; column++) {
      const isSame = one.charCodeAt(at - 1) === other.charCodeAt(column - 1);
      let mistakes = Math.min((row[column - 1] ?? 0) + 1, (up[column - 1] ?? 0) + (isSame ? 0 : 1));
      if (column < at + max) mistakes = Math.min(mistakes, (up[column] ?? 0) + 1);
      if (isSwapped(one, other, at, column)) mistakes = Math.min(mistakes, (twoUp[column - 2] ?? 0) + 1);
      row[column] = mistakes;
      if (mistakes < best) best = mistakes;
    }
    if (best > max) return best;
  }
  return row[other.length] ?? max + 1;
}

function isSwapped(one: string, other: string, at: number, column: number): boolean {
  return (
    at > 1 &&
    column > 1 &&
    one.charCodeAt(at - 1) === other.charCodeAt(column - 2) &&
    one.charCodeAt(at - 2) === other.charCodeAt(column - 1)
  );
}
