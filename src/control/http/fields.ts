/** Reads fields of a request within their bounds. An error names the field and never repeats its value. */
import { Refusal } from '#src/domain/errors.ts';
import { type IdKind, parseId } from '#src/domain/id.ts';
import { MODES, type Mode } from '#src/domain/project.ts';
import type { JsonBody } from './route.ts';

/** Longer than any valid name, password or token. */
const TEXT_CHARACTERS_MAX = 1_024;
const LIST_MAX = 1_000;

export function readText(body: JsonBody, name: string): string {
  const value = body[name];
  if (!isText(value)) {
    const message = `${name} must be a string of at most ${TEXT_CHARACTERS_MAX} characters.`;
    throw new Refusal('invalid_request', name, message);
  }
  return value;
}

/** Returns undefined if the field is missing or null. */
export function readOptionalText(body: JsonBody, name: string): string | undefined {
  const value = body[name];
  return value === undefined || value === null ? undefined : readText(body, name);
}

/** Returns null if the field is missing or null. */
export function readTexts(body: JsonBody, name: string): readonly string[] | null {
  const value = body[name];
  if (value === undefined || value === null) return null;
  if (!Array.isArray(value) || value.length > LIST_MAX || !value.every(isText)) {
    throw new Refusal(
      'invalid_request',
      name,
      `${name} must be a list of at most ${LIST_MAX} strings, or null.`,
    );
  }
  return value;
}

/** Reads the `:id` of a path. A text that is not an id names nothing that exists. */
export function readPathId<K extends IdKind>(
  kind: K,
  { id = '' }: Readonly<Record<string, string>>,
): NonNullable<ReturnType<typeof parseId<K>>> {
  const parsed = parseId(kind, id);
  if (parsed === null) throw new Refusal('not_found');
  return parsed;
}

export function isMode(text: string): text is Mode {
  return (MODES as readonly string[]).includes(text);
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value.length <= TEXT_CHARACTERS_MAX;
}
