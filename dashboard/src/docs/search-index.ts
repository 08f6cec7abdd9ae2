/** The index of the search: what can be found, and in which order. It is pure, and knows nothing of the page. */
import { Names } from '../../../src/domain/nearest-name.ts';

export interface Entry {
  readonly kind: 'Section' | 'Operation' | 'Webhook' | 'Field' | 'Error';
  /** The id of the place on the page. */
  readonly id: string;
  /** A nested field has the names of its objects before its own: `retry_policy.base`. */
  readonly name: string;
  /** The place of the entry, such as the name of the operation. */
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
const KIND_SCORES: Readonly<Record<Entry['kind'], number>> = {
  Section: 40,
  Operation: 30,
  Webhook: 30,
  Error: 20,
  Field: 10,
};
/** Repeated entries come after all others whose name matches. */
const REPEATED = 270;

/** Finds entries that contain every word. An equal name comes first, then its beginning, its middle, then other text. */
export function findEntries(entries: readonly Entry[], query: string): readonly Entry[] {
  const words = wordsOf(query);
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

/**
 * Returns the query with each word that nothing contains replaced by the nearest word of the index. Returns null if a
 * word has none that is near.
 */
export function correctQuery(entries: readonly Entry[], query: string): string | null {
  let names: Names<string> | null = null;
  const corrected = wordsOf(query).map((word) => {
    if (entries.some((entry) => matchOf(entry, word) > 0)) return word;
    names ??= new Names(vocabularyOf(entries));
    return names.nearest(word);
  });
  return corrected.includes(null) ? null : corrected.join(' ');
}

/** Names come before other texts, because the first of several words that are equally near is taken. */
function vocabularyOf(entries: readonly Entry[]): ReadonlySet<string> {
  const texts = [
    ...entries.map(({ name }) => name),
    ...entries.map(({ kind, context, text }) => `${kind} ${context} ${text}`),
  ];
  return new Set(texts.flatMap((text) => text.toLowerCase().match(/[a-z0-9]{3,}/g) ?? []));
}

function wordsOf(query: string): readonly string[] {
  return query.toLowerCase().split(/\s+/).filter(Boolean);
}

function scoreOf(entry: Entry, word: string): number {
  const score = matchOf(entry, word);
  if (score === 0) return 0;
  return score + KIND_SCORES[entry.kind] - (entry.isRepeated ? REPEATED : 0);
}

function matchOf({ kind, name, context, text }: Entry, word: string): number {
  const lower = name.toLowerCase();
  const last = lower.split('.').at(-1) ?? lower;
  if (lower === word || last === word) return 500;
  if (last.startsWith(word)) return 400;
  if (lower.includes(word)) return 300;
  if (context.toLowerCase().includes(word)) return 200;
  return `${kind} ${text}`.toLowerCase().includes(word) ? 150 : 0;
}
