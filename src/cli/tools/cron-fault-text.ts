/** What is wrong with a cron expression, in words. */
import type { CronFault } from '#src/domain/cron-fault.ts';

const FIELD_ORDER = 'minute, hour, day of month, month, day of week';

/** Completes a sentence. */
export function faultText(fault: CronFault): string {
  switch (fault.kind) {
    case 'too_long':
      return `it has more than ${fault.charactersMax} characters`;
    case 'nickname':
      return `${fault.text} is not known, write five fields (${FIELD_ORDER})`;
    case 'field_count':
      return `it has ${fault.count} fields, and needs five (${FIELD_ORDER})`;
    case 'empty_item':
      return `the ${fault.field} has an empty item between commas`;
    case 'extension':
      return `the ${fault.field} has ${JSON.stringify(fault.item)}, and L, W, # and ? are not known`;
    case 'bad_step':
      return `the ${fault.field} has ${JSON.stringify(fault.item)}, and a step is a whole number from 1`;
    case 'reversed':
      return `the ${fault.field} has the range ${fault.item}, which ends before it begins`;
    case 'bad_value':
      return `the ${fault.field} has ${JSON.stringify(fault.item)}, allowed are ${fault.allowed}`;
    case 'no_such_date':
      return 'no year has such a date';
  }
}
