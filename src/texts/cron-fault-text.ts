/** Says what is wrong with a cron expression and its time zone, for the API, the dashboard and the command line. */
import { type CronFault, cronFault } from '#src/domain/cron-fault.ts';
import { counted, described, HINT_CHARACTERS_MAX, quoted } from './quote.ts';

const FIELD_ORDER = 'minute, hour, day of month, month, day of week';
const EXAMPLE = '"0 9 * * MON-FRI"';

/** The nicknames of other cron programs, with the same meaning in five fields. */
const FIVE_FIELDS_OF: Readonly<Record<string, string>> = {
  '@yearly': '0 0 1 1 *',
  '@annually': '0 0 1 1 *',
  '@monthly': '0 0 1 * *',
  '@weekly': '0 0 * * 0',
  '@daily': '0 0 * * *',
  '@midnight': '0 0 * * *',
  '@hourly': '0 * * * *',
};

/** Returns the message about a value of `cron` that was refused. `field` is how the reader calls it. */
export function cronFaultText(value: unknown, field: string): string {
  if (typeof value !== 'string')
    return `${field} must be a string with five fields, such as ${EXAMPLE}, not ${described(value)}.`;
  const fault = cronFault(value);
  if (fault === null)
    return `${field} ${quoted(value)} does not occur within the next 10 years. Choose a date that comes earlier.`;
  return `${field} ${quoted(value)} is not valid: ${clauseOf(fault)}.`;
}

function clauseOf(fault: CronFault): string {
  switch (fault.kind) {
    case 'too_long':
      return `it has more than ${counted(fault.charactersMax)} characters. Write five fields, such as ${EXAMPLE}`;
    case 'nickname':
      return nicknameClause(fault.text);
    case 'zone':
      return `the time zone is not a part of it. Leave out ${quoted(fault.text, HINT_CHARACTERS_MAX)}, and give it as timezone`;
    case 'field_count':
      return fieldCountClause(fault.count);
    case 'empty_item':
      return `the ${fault.field} has an empty item between commas. Write a list such as 1,15`;
    case 'extension':
      return `the ${fault.field} has ${item(fault)}, but L, W, # and ? are not supported. ${withoutExtension(fault)}`;
    case 'bad_step':
      return `the ${fault.field} has ${item(fault)}, but a step must be a whole number of at least 1, such as */5`;
    case 'reversed':
      return `the ${fault.field} has the range ${item(fault)}, which ends before it starts. Split it in two, separated by a comma`;
    case 'bad_value':
      return `the ${fault.field} has ${item(fault)}, but only ${fault.allowed} are allowed, as in ${EXAMPLE}`;
    case 'no_such_date':
      return 'no year has such a date. Choose a day that its month has, such as "0 9 28 2 *"';
  }
}

function item(fault: { readonly item: string }): string {
  return quoted(fault.item, HINT_CHARACTERS_MAX);
}

function nicknameClause(nickname: string): string {
  const fields = FIVE_FIELDS_OF[nickname.toLowerCase()];
  const instead = fields === undefined ? `five fields (${FIELD_ORDER}), such as ${EXAMPLE}` : `"${fields}"`;
  return `nicknames are not supported. Write ${instead}`;
}

function fieldCountClause(count: number): string {
  if (count === 0) return `it is empty. Write five fields (${FIELD_ORDER}), such as ${EXAMPLE}`;
  const seconds = count === 6 ? '. Seconds are not supported: leave out their field' : '';
  return `it has ${count} ${count === 1 ? 'field' : 'fields'} but needs five (${FIELD_ORDER}), such as ${EXAMPLE}${seconds}`;
}

/** Only `?` has an equivalent. The other extensions choose a day by the calendar, which five fields cannot do. */
function withoutExtension({
  field,
  item: extension,
}: {
  readonly field: string;
  readonly item: string;
}): string {
  const isDay = field.startsWith('day');
  if (extension === '?') return isDay ? 'Write * for any day' : 'Write * for any value';
  if (!isDay) return 'Write numbers, such as 9 or 9-17';
  if (field === 'day of month' && /^L$/i.test(extension))
    return 'Write 28-31, and let the receiver check for the last day';
  return 'Write all days that it can be, and let the receiver check the date';
}
