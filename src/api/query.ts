/** Parses query strings. An empty value counts as absent, and the first of repeated names counts. */
import { Refusal } from '#src/domain/errors.ts';
import { type Instant, instant, parseInstant } from '#src/domain/instant.ts';
import { LABELS_MAX, type Labels } from '#src/domain/labels.ts';
import { nearestName } from '#src/domain/nearest-name.ts';
import { instantFaultText } from '#src/texts/instant-fault-text.ts';
import { listed, quoted } from '#src/texts/quote.ts';

export const LIMIT_DEFAULT = 20;
export const LIMIT_MAX = 100;

/** Returns the page size. A wrong value is replaced and not refused. */
export function readLimit(query: URLSearchParams): number {
  return parseLimit(query.get('limit') ?? '');
}

export function parseLimit(text: string): number {
  if (!/^\s*[+-]?\d+\s*$/.test(text)) return LIMIT_DEFAULT;
  const limit = Number(text);
  return limit < 1 ? LIMIT_DEFAULT : Math.min(limit, LIMIT_MAX);
}

export function readText(query: URLSearchParams, name: string): string | null {
  const text = query.get(name);
  return text === '' ? null : text;
}

/** The longest part of a URL that a list is filtered by. */
export const URL_PART_CHARACTERS_MAX = 512;

export function readUrlPart(query: URLSearchParams, name: string): string | null {
  const text = readText(query, name);
  if (text === null || text.length <= URL_PART_CHARACTERS_MAX) return text;
  throw new Refusal(
    'invalid_request',
    name,
    `${name} has ${text.length} characters. At most ${URL_PART_CHARACTERS_MAX} are allowed.`,
  );
}

export function readChoice<T extends string>(
  query: URLSearchParams,
  name: string,
  choices: readonly T[],
): T | null {
  const text = readText(query, name);
  if (text === null) return null;
  const choice = choices.find((candidate) => candidate === text);
  if (choice === undefined) throw new Refusal('invalid_request', name, wrongChoiceText(name, text, choices));
  return choice;
}

/** Parses a bound of the creation time. Fractions of a millisecond are rounded in the given direction. */
export function readInstant(query: URLSearchParams, name: string, rounded: 'up' | 'down'): Instant | null {
  const text = readText(query, name);
  if (text === null) return null;
  const at = parseBound(text, rounded);
  if (at === null) throw new Refusal('invalid_request', name, boundFaultText(name, text));
  return at;
}

export function parseBound(text: string, rounded: 'up' | 'down'): Instant | null {
  // The + of an offset arrives as a space if the client did not encode it.
  const at = parseInstant(text.replace(' ', '+'));
  return at !== null && rounded === 'up' && BELOW_MILLISECONDS.test(text) ? instant(at + 1) : at;
}

export function boundFaultText(name: string, value: unknown): string {
  return instantFaultText(value, name, SOME_DAY);
}

export function wrongChoiceText(name: string, text: string, choices: readonly string[]): string {
  const meant = nearestName(text, choices);
  const must = `${name} must be ${listed(choices, 'or')}, not ${quoted(text)}.`;
  return meant === null ? must : `${must} Did you mean ${meant}?`;
}

const BELOW_MILLISECONDS = /\.\d{3}0*[1-9]/;

/** The example of a filter may lie in the past. */
const SOME_DAY = instant(Date.UTC(2026, 10, 14));

const LABEL = /^metadata\[(.+)\]$/s;

/** Whether the name is one of a filter by label, such as `metadata[team]`. */
export function isLabelFilter(name: string): boolean {
  return LABEL.test(name);
}

/** Parses `metadata[name]=value`. All labels must match. */
export function readLabels(query: URLSearchParams): Labels {
  const labels: (readonly [string, string])[] = [];
  for (const [name, value] of query) {
    const label = LABEL.exec(name)?.[1];
    if (label !== undefined && value !== '') labels.push([label, value]);
  }
  if (labels.length > LABELS_MAX) {
    throw new Refusal(
      'invalid_request',
      'metadata',
      `metadata filters by ${labels.length} labels. At most ${LABELS_MAX} are allowed.`,
    );
  }
  return labels;
}
