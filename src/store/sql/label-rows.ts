/**
 * A row of a label repeats the state and the kind of its schedule, and its key is (partition, digest, state, kind,
 * schedule id). Each combination of one label, a state and a kind is thus a range of one index, newest last.
 * Every verb that changes state, kind or labels of a schedule changes these rows in the same transaction.
 */
import {
  SCHEDULE_KINDS,
  SCHEDULE_STATES,
  type ScheduleKind,
  type ScheduleState,
} from '#src/domain/schedule.ts';
import { SCHEDULE_TRANSITIONS } from '#src/domain/schedule-lifecycle.ts';
import type { ScheduleFilter } from '#src/ports/store.ts';

/** The columns of a row, in the order in which their values are handed over: this is its primary key. */
export const LABEL_COLUMNS = ['partition', 'digest', 'state', 'kind', 'schedule_id'] as const;

/** Every pair of state and kind that a filter accepts. Each is one range of an index. */
export function rangesOf({
  state,
  kind,
}: Pick<ScheduleFilter, 'state' | 'kind'>): readonly (readonly [ScheduleState, ScheduleKind])[] {
  return SCHEDULE_STATES.filter((each) => state === null || each === state).flatMap((each) =>
    SCHEDULE_KINDS.filter((other) => kind === null || other === kind).map((other) => [each, other] as const),
  );
}

/** These lists let a statement find the one row of a label and a schedule by its key, whatever its state is. */
export const EVERY_STATE = quoted(SCHEDULE_STATES);
export const EVERY_KIND = quoted(SCHEDULE_KINDS);
/** The states that the end of a delivery can complete. */
export const COMPLETABLE_STATES = SCHEDULE_STATES.filter(
  (state) => SCHEDULE_TRANSITIONS[state].complete !== undefined,
);

function quoted(words: readonly string[]): string {
  return words.map((word) => `'${word}'`).join(', ');
}
