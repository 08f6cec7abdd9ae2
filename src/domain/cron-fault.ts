/**
 * Explains why a text is not a cron expression, for the person who wrote it. The rules are in `cron-expression.ts` and
 * are not repeated here. This code applies them field by field and item by item, and describes the smallest part that
 * they refuse.
 */
import {
  EXPRESSION_CHARACTERS_MAX,
  FIELDS,
  type Field,
  fieldsOf,
  parseCron,
  parseField,
  parseValue,
} from './cron-expression.ts';

export type CronFault =
  | { readonly kind: 'too_long'; readonly charactersMax: number }
  /** `@daily` and similar names. */
  | { readonly kind: 'nickname'; readonly text: string }
  /** `TZ=` or `CRON_TZ=` in front of the fields, as other cron programs have it. */
  | { readonly kind: 'zone'; readonly text: string }
  | { readonly kind: 'field_count'; readonly count: number }
  | { readonly kind: 'empty_item'; readonly field: string }
  /** `L`, `W`, `#` and `?`, which other cron implementations have. */
  | { readonly kind: 'extension'; readonly field: string; readonly item: string }
  | { readonly kind: 'bad_step'; readonly field: string; readonly item: string }
  | { readonly kind: 'reversed'; readonly field: string; readonly item: string }
  | { readonly kind: 'bad_value'; readonly field: string; readonly item: string; readonly allowed: string }
  /** A date that does not exist in any year, such as 30 February. */
  | { readonly kind: 'no_such_date' };

/** Returns null when the expression is valid. */
export function cronFault(text: string): CronFault | null {
  if (text.length > EXPRESSION_CHARACTERS_MAX)
    return { kind: 'too_long', charactersMax: EXPRESSION_CHARACTERS_MAX };
  const cron = parseCron(text);
  if (cron !== null) return cron.possible ? null : { kind: 'no_such_date' };
  const fields = fieldsOf(text);
  if (fields[0]?.startsWith('@') === true) return { kind: 'nickname', text: fields[0] };
  if (fields[0] !== undefined && /^(?:CRON_)?TZ=/i.test(fields[0])) return { kind: 'zone', text: fields[0] };
  if (fields.length !== FIELDS.length) return { kind: 'field_count', count: fields.length };
  for (const [i, field] of FIELDS.entries()) {
    for (const item of (fields[i] ?? '').split(',')) {
      if (parseField(item, field) === null) return itemFault(item, field);
    }
  }
  throw new Error('The expression was refused, and none of its items is.');
}

function itemFault(item: string, field: Field): CronFault {
  if (item === '') return { kind: 'empty_item', field: field.name };
  const [range = '', step, ...rest] = item.split('/');
  if (rest.length > 0 || (step !== undefined && !/^0*[1-9][0-9]*$/.test(step)))
    return { kind: 'bad_step', field: field.name, item };
  const ends = range === '*' ? [] : range.split('-');
  const wrong =
    ends.length > 2 || ends.includes('') ? range : ends.find((end) => parseValue(end, field) === null);
  if (wrong === undefined) return { kind: 'reversed', field: field.name, item: range };
  if (/[#?]|^(?:\d*[LW]+|[A-Z]{3}L)$/i.test(wrong))
    return { kind: 'extension', field: field.name, item: wrong };
  return { kind: 'bad_value', field: field.name, item: wrong, allowed: allowed(field) };
}

function allowed(field: Field): string {
  // Sunday has a second number after the last one.
  const last = parseValue(`${field.last + 1}`, field) ?? field.last;
  const numbers = `${field.first} to ${last}`;
  return field.names.length === 0 ? numbers : `${numbers}, ${field.names[0]} to ${field.names.at(-1)}`;
}
