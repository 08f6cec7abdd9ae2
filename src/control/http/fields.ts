/**
 * The fields of requests to the control plane as schemas. A field has its bounds, and a text that says what is wrong
 * with a value. `readInput` refuses the first field at fault with the code `invalid_request`, and a field that the schema
 * of a body does not have with `unknown_field`.
 */
import { z } from 'zod';
import { boundFaultText, parseBound, parseLimit, wrongChoiceText } from '#src/api/query.ts';
import { printable } from '#src/api/unknown-field.ts';
import { Refusal } from '#src/domain/errors.ts';
import { type IdKind, parseId } from '#src/domain/id.ts';
import { described } from '#src/texts/quote.ts';

/** Longer than any valid name, password or token. */
const TEXT_CHARACTERS_MAX = 1_024;
const LIST_MAX = 1_000;

type FaultText = (name: string, value: unknown) => string;

/** Makes the message of a field. It is made only for a fault. */
export function saying(text: FaultText) {
  return { error: ({ path, input }: z.core.$ZodRawIssue) => text(String(path?.[0]), input) };
}

const MUST_BE_TEXT = saying(
  (name) => `${name} must be a string of at most ${TEXT_CHARACTERS_MAX} characters.`,
);
const MUST_BE_TEXTS = saying((name) => `${name} must be a list of at most ${LIST_MAX} strings, or null.`);

export const text = z.string(MUST_BE_TEXT).max(TEXT_CHARACTERS_MAX, MUST_BE_TEXT);

export const optionalText = text.nullish();

/** A missing list is null. */
export const optionalTexts = z
  .array(z.string(MUST_BE_TEXTS).max(TEXT_CHARACTERS_MAX, MUST_BE_TEXTS), MUST_BE_TEXTS)
  .max(LIST_MAX, MUST_BE_TEXTS)
  .nullish()
  .transform((given) => given ?? null);

/** Any field as it was given. The handler leaves them to the readers of `/v1`. */
export const asGiven = z.custom<Readonly<Record<string, unknown>>>();

/** The fields of a body of `/v1`, each with its value as it was given. */
export function fieldsAsGiven({ shape }: z.ZodObject) {
  const names = Object.keys(shape);
  return z.strictObject(Object.fromEntries(names.map((name) => [name, z.unknown().optional()])));
}

/** A text that has a meaning of its own. `parse` returns null for any other text. */
export function parsed<T>(parse: (text: string) => T | null, fault: FaultText) {
  return z
    .string(saying(fault))
    .refine((given) => parse(given) !== null, saying(fault))
    .transform((given) => parse(given) as T);
}

export function idOf<K extends IdKind>(kind: K) {
  return parsed(
    (given) => parseId(kind, given),
    (field) => `${field} is not an id with the prefix ${kind}_.`,
  );
}

const ATTEMPT_NO_MAX = 999_999;
const MUST_BE_ATTEMPT_NO = saying((name) => `${name} must be the number of an attempt, such as 1.`);

export const attemptNo = z
  .int(MUST_BE_ATTEMPT_NO)
  .min(1, MUST_BE_ATTEMPT_NO)
  .max(ATTEMPT_NO_MAX, MUST_BE_ATTEMPT_NO);

/** The wildcard of a path that names one object. */
export function byId<K extends IdKind>(kind: K) {
  return z.object({ id: idOf(kind) });
}

/** An empty value counts as absent, as in the queries of `/v1`. An absent field is null. */
export function optional<S extends z.ZodType>(schema: S) {
  return z.preprocess((value) => (value === '' || value === undefined ? null : value), schema.nullable());
}

export function choice<const T extends string>(choices: readonly T[]) {
  const fault: FaultText = (field, value) =>
    typeof value === 'string'
      ? wrongChoiceText(field, value, choices)
      : `${field} must be a string, not ${described(value)}.`;
  return optional(z.enum(choices, saying(fault)));
}

/** An end of a span of time. Fractions of a millisecond are rounded in the given direction. */
export function bound(rounded: 'up' | 'down') {
  return optional(parsed((given) => parseBound(given, rounded), boundFaultText));
}

export const cursor = optional(z.string());

/** A wrong page size is replaced and not refused. */
export const limit = z
  .string()
  .optional()
  .transform((given) => parseLimit(given ?? ''));

/** An unknown field is refused before the others are looked at, as in a strict request to `/v1`. */
export function readInput<S extends z.ZodType>(
  schema: S,
  given: Readonly<Record<string, unknown>>,
): z.output<S> {
  const read = schema.safeParse(given);
  if (read.success) return read.data;
  const { issues } = read.error;
  const unknown = issues.flatMap((issue) => (issue.code === 'unrecognized_keys' ? issue.keys : []))[0];
  if (unknown !== undefined) {
    const shown = printable(unknown);
    throw new Refusal('unknown_field', shown, `\`${shown}\` is not a field of this request. Leave it out.`);
  }
  throw new Refusal('invalid_request', String(issues[0]?.path[0]), issues[0]?.message);
}

/** A path with a value of the wrong form names nothing that exists. */
export function readParams<S extends z.ZodType>(
  schema: S,
  given: Readonly<Record<string, string>>,
): z.output<S> {
  const read = schema.safeParse(given);
  if (!read.success) throw new Refusal('not_found');
  return read.data;
}

/** The first of repeated names in a query counts. */
export function firstOfEach(query: URLSearchParams): Readonly<Record<string, string>> {
  return Object.fromEntries([...query].toReversed());
}
