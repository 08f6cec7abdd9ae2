/**
 * The forms of texts as JSON Schema says them. The document shows them, and the parsers of the domain decide: a test
 * compares both. A text of the right form can still be refused, for example the date of a day that does not exist.
 */
import { EXPRESSION_CHARACTERS_MAX } from '#src/domain/cron-expression.ts';
import { DURATION_CHARACTERS_MAX } from '#src/domain/duration.ts';
import { type IdKind, idPattern } from '#src/domain/id.ts';
import { ZONE_NAME_CHARACTERS_MAX } from '#src/domain/zone.ts';

/** A duration of Go. */
export const DURATION_FORM = {
  pattern: '^[+-]?(?:0|(?:(?:[0-9]+(?:\\.[0-9]*)?|\\.[0-9]+)(?:ns|us|\u00b5s|\u03bcs|ms|s|m|h))+)$',
  maxLength: DURATION_CHARACTERS_MAX,
} as const;

/** An instant in a request. */
export const INSTANT_FORM = {
  format: 'date-time',
  pattern: '^\\d{4}-\\d{2}-\\d{2}[Tt]\\d{2}:\\d{2}:\\d{2}(?:\\.\\d+)?(?:[Zz]|[+-]\\d{2}:\\d{2})$',
} as const;

/** An instant in an answer: UTC with milliseconds. */
export const INSTANT_ANSWER_FORM = {
  format: 'date-time',
  pattern: '^\\d{4}-\\d{2}-\\d{2}T\\d{2}:\\d{2}:\\d{2}\\.\\d{3}Z$',
} as const;

export const LOCAL_TIME_FORM = { pattern: '^\\d{4}-\\d{2}-\\d{2}T\\d{2}:\\d{2}:\\d{2}$' } as const;

export const DATE_FORM = { format: 'date', pattern: '^\\d{4}-\\d{2}-\\d{2}$' } as const;

export const CRON_FORM = { maxLength: EXPRESSION_CHARACTERS_MAX } as const;

export const ZONE_FORM = {
  pattern: '^[A-Za-z][A-Za-z0-9_+/-]*$',
  maxLength: ZONE_NAME_CHARACTERS_MAX,
} as const;

export function idForm(kind: IdKind): { readonly pattern: string } {
  return { pattern: idPattern(kind) };
}

/** The time of the objects in the examples is the instant 2026-11-15T08:00:00Z, and their ids begin with it. */
export function exampleId(kind: IdKind): string {
  return `${kind}_01m7f3gs00zqgw5m2r7n9x0abc`;
}
