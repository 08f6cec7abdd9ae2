/** Describes what is wrong with a cron expression. */
import type { CronFault } from '#src/domain/cron-fault.ts';

const FIELD_ORDER = 'minute, hour, day of month, month, day of week';

/** Returns a clause without a period, to complete a sentence. */
export function faultText(fault: CronFault): string {
  switch (fault.kind) {
    case 'too_long':
      return `it has more than ${fault.charactersMax} characters`;
    case 'nickname':
      return `${fault.text} is not supported; write five fields (${FIELD_ORDER})`;
    case 'field_count':
      return `it has ${fault.count} fields but needs five (${FIELD_ORDER})`;
    case 'empty_item':
      return `the ${fault.field} has an empty item between commas`;
    case 'extension':
      return `the ${fault.field} has ${JSON.stringify(fault.item)}, but L, W, # and ? are not supported`;
    case 'bad_step':
      return `the ${fault.field} has ${JSON.stringify(fault.item)}, but a step must be a whole number of at least 1`;
    case 'reversed':
      return `the ${fault.field} has the range ${fault.item}, which ends before it starts`;
    case 'bad_value':
      return `the ${fault.field} has ${JSON.stringify(fault.item)}, but only ${fault.allowed} are allowed`;
    case 'no_such_date':
      return 'no year has such a date';
  }
}
