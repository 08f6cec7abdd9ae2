/** What may be removed, as SQL names it, and what a look for it finds. */
import { DELIVERY_STATUSES } from '#src/domain/delivery.ts';
import { isTerminal } from '#src/domain/delivery-life.ts';
import type { DeliveryId } from '#src/domain/id.ts';
import type { Partition } from '#src/domain/partition.ts';
import { SCHEDULE_STATES } from '#src/domain/schedule.ts';
import { SCHEDULE_LIFE } from '#src/domain/schedule-life.ts';
import type { Step } from './verbs.ts';

export const TERMINAL_STATUSES = listed(DELIVERY_STATUSES.filter(isTerminal));
export const ENDED_STATES = listed(
  SCHEDULE_STATES.filter((state) => Object.keys(SCHEDULE_LIFE[state]).length === 0),
);

function listed(values: readonly string[]): string {
  return values.map((value) => `'${value}'`).join(', ');
}

/** How many rows were looked at, and the verbs that remove those that may go. */
export interface Removals {
  readonly looked: number;
  readonly verbs: readonly (readonly Step[])[];
}

export interface DeliveryKey {
  readonly partition: Partition;
  readonly id: DeliveryId;
  readonly revision: number;
}
