/**
 * Each label of a schedule has a row of its own. The row repeats the state and the kind of the schedule, and its key
 * is (partition, digest, state, kind, schedule id). The schedules with one label, one state and one kind are
 * therefore one range of the index, newest last. Every verb that changes the state, the kind or the labels of a
 * schedule changes these rows in the same transaction.
 */
import {
  SCHEDULE_KINDS,
  SCHEDULE_STATES,
  type ScheduleKind,
  type ScheduleState,
} from '#src/domain/schedule.ts';
import type { ScheduleFilter } from '#src/ports/lists.ts';

/**
 * The columns of a label row, in the order in which statements take their values. Together they are the primary key.
 */
export const LABEL_COLUMNS = ['partition', 'digest', 'state', 'kind', 'schedule_id'] as const;

/** Every pair of state and kind that the filter accepts. Each pair is one range of an index. */
export function rangesOf({
  state,
  kind,
}: Pick<ScheduleFilter, 'state' | 'kind'>): readonly (readonly [ScheduleState, ScheduleKind])[] {
  return SCHEDULE_STATES.filter((each) => state === null || each === state).flatMap((each) =>
    SCHEDULE_KINDS.filter((other) => kind === null || other === kind).map((other) => [each, other] as const),
  );
}

/** Lists for statements that look up the row of a label and a schedule by its whole key, whatever its state is. */
export const EVERY_STATE = quoted(SCHEDULE_STATES);
export const EVERY_KIND = quoted(SCHEDULE_KINDS);

function quoted(words: readonly string[]): string {
  return words.map((word) => `'${word}'`).join(', ');
}
