/** The index of the search: what can be found, and in which order. It is pure, and knows nothing of the page. */

export interface Entry {
  readonly kind: 'Operation' | 'Field' | 'Error';
  /** The id of the place on the page. */
  readonly id: string;
  /** A nested field has the names of its objects before its own: `retry_policy.base`. */
  readonly name: string;
  /** Where it is, such as the name of the operation. */
  readonly context: string;
  /** Further text that is searched. */
  readonly text: string;
  /** Whether the same thing is on the page in a better place, such as a field that many answers have. */
  readonly isRepeated: boolean;
}

interface Ranked {
  readonly entry: Entry;
  readonly score: number;
}

const RESULTS_MAX = 30;
const KIND_SCORES: Readonly<Record<Entry['kind'], number>> = { Operation: 30, Error: 20, Field: 10 };
/** What is repeated comes after everything else whose name matches. */
const REPEATED = 270;

/** Finds entries that contain every word. An equal name comes first, then its beginning, its middle, then other text. */
export function findEntries(entries: readonly Entry[], query: string): readonly Entry[] {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) return [];
  const ranked = entries.flatMap((entry): readonly Ranked[] => {
    const scores = words.map((word) => scoreOf(entry, word));
    return scores.includes(0) ? [] : [{ entry, score: scores.reduce((sum, score) => sum + score, 0) }];
  });
  return ranked
    .toSorted((a, b) => b.score - a.score)
    .slice(0, RESULTS_MAX)
    .map(({ entry }) => entry);
}

function scoreOf(entry: Entry, word: string): number {
  const score = matchOf(entry, word);
  if (score === 0) return 0;
  return score + KIND_SCORES[entry.kind] - (entry.isRepeated ? REPEATED : 0);
}

function matchOf({ name, context, text }: Entry, word: string): number {
  const lower = name.toLowerCase();
  const last = lower.split('.').at(-1) ?? lower;
  if (lower === word || last === word) return 500;
  if (last.startsWith(word)) return 400;
  if (lower.includes(word)) return 300;
  if (context.toLowerCase().includes(word)) return 200;
  return text.toLowerCase().includes(word) ? 150 : 0;
}
