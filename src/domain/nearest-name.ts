/** Finds the name that a misspelt one was meant to be. */

/** A longer name is not compared. No name of the service is longer. */
const CHARACTERS_MAX = 64;

/** Returns the candidate nearest to the name, or null if none is near. Upper and lower case are the same. */
export function nearestName(name: string, candidates: Iterable<string>): string | null {
  if (name.length > CHARACTERS_MAX) return null;
  const given = name.toLowerCase();
  let nearest: string | null = null;
  let best = mistakesMax(given) + 1;
  for (const candidate of candidates) {
    // A shorter text differs by at least the missing characters.
    if (Math.abs(candidate.length - given.length) >= best) continue;
    const distance = editDistance(given, candidate.toLowerCase());
    if (distance < best) {
      best = distance;
      nearest = candidate;
    }
  }
  return nearest;
}

/** The number of mistakes after which a name is a different one. Short names resemble each other by chance. */
function mistakesMax({ length }: string): number {
  if (length < 4) return 1;
  return length < 9 ? 2 : 3;
}

/** The smallest number of inserted, removed, replaced and swapped characters that turns one text into the other. */
export function editDistance(from: string, to: string): number {
  let beforeLast: readonly number[] = [];
  let last: readonly number[] = Array.from({ length: to.length + 1 }, (_, column) => column);
  for (let row = 1; row <= from.length; row++) {
    const current = [row];
    for (let column = 1; column <= to.length; column++) {
      const isSame = from[row - 1] === to[column - 1];
      const isSwapped = from[row - 1] === to[column - 2] && from[row - 2] === to[column - 1];
      current.push(
        Math.min(
          at(last, column) + 1,
          at(current, column - 1) + 1,
          at(last, column - 1) + (isSame ? 0 : 1),
          row > 1 && column > 1 && isSwapped ? at(beforeLast, column - 2) + 1 : Number.POSITIVE_INFINITY,
        ),
      );
    }
    beforeLast = last;
    last = current;
  }
  return at(last, to.length);
}

function at(row: readonly number[], column: number): number {
  return row[column] ?? Number.POSITIVE_INFINITY;
}
