/** The index of the search: what can be found, and in which order. It is pure, and knows nothing of the page. */

export interface Entry {
  readonly kind: 'Operation' | 'Field' | 'Error';
  /** The id of the place on the page. */
  readonly id: string;
  readonly name: string;
  /** Where it is, such as the name of the operation. */
  readonly context: string;
  /** Further text that is searched. */
  readonly text: string;
}

interface Ranked {
  readonly entry: Entry;
  readonly score: number;
}

const RESULTS_MAX = 30;
const KIND_SCORES: Readonly<Record<Entry['kind'], number>> = { Operation: 3, Error: 2, Field: 1 };

/** Finds entries that contain every word. An equal name comes first, then its beginning, its middle, then other text. */
export function findEntries(entries: readonly Entry[], query: string): readonly Entry[] {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) return [];
  const ranked = entries.flatMap((entry): readonly Ranked[] => {
    const scores = words.map((word) => scoreOf(entry, word));
    return scores.includes(0) ? [] : [{ entry, score: scores.reduce((sum, score) => sum + score, 0) }];
  });
  return ranked
    .toSorted((a, b) => b.score - a.score || KIND_SCORES[b.entry.kind] - KIND_SCORES[a.entry.kind])
    .slice(0, RESULTS_MAX)
    .map(({ entry }) => entry);
}

function scoreOf({ name, context, text }: Entry, word: string): number {
  const lower = name.toLowerCase();
  if (lower === word) return 50;
  if (lower.startsWith(word)) return 20;
  if (lower.includes(word)) return 10;
  if (context.toLowerCase().includes(word)) return 3;
  return text.toLowerCase().includes(word) ? 1 : 0;
}
