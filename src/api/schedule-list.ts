/** `GET /v1/schedules`. Up to one label is answered from an index. Several labels need a search (see the store port). */
import type { RenderedAnswer } from '#src/commands/command.ts';
import type { PauseLength } from '#src/commands/pauses.ts';
import type { ScheduleId } from '#src/domain/id.ts';
import type { Label, Labels } from '#src/domain/labels.ts';
import type { Partition } from '#src/domain/project.ts';
import { SCHEDULE_KINDS, SCHEDULE_STATES, type Schedule, type ScheduleView } from '#src/domain/schedule.ts';
import type { ScheduleFilter, Store } from '#src/ports/store.ts';
import type { Call } from './call.ts';
import { answerFound, answerPage, type Item, readPage } from './lists.ts';
import { presentSchedule } from './present.ts';
import { readChoice, readLabels } from './query.ts';

interface ScheduleListDependencies {
  readonly store: Pick<Store, 'findSchedules' | 'listSchedules' | 'searchSchedules'>;
  readonly pause: (partition: Partition, length?: PauseLength) => Promise<void>;
}

export async function listSchedules(
  { store, pause: pauseFor }: ScheduleListDependencies,
  { tenant: { partition, mode }, query, answer }: Pick<Call, 'tenant' | 'query' | 'answer'>,
): Promise<RenderedAnswer> {
  const pause = (length?: PauseLength) => pauseFor(partition, length);
  const page = readPage(query, partition, 'schedules', 'sch');
  const state = readChoice(query, 'state', SCHEDULE_STATES);
  const kind = readChoice(query, 'kind', SCHEDULE_KINDS);
  const labels = distinct(readLabels(query));
  const show = (view: ScheduleView): Item<ScheduleId> => ({
    position: view.schedule.id,
    resource: presentSchedule(view, mode),
  });

  if (labels.length < 2) {
    const [label] = labels;
    const filter = { state, kind, labels: label === undefined ? ([] as const) : ([label] as const) };
    return answer((bytesMax) =>
      answerPage(
        { ...page, bytesMax },
        (before, limit) => store.listSchedules(partition, filter, { before, limit }),
        show,
        pause,
      ),
    );
  }

  const filter = { state, kind, labels };
  const found = isContradictory(labels)
    ? { found: [], next: null }
    : await store.searchSchedules(partition, filter, { before: page.after, limit: page.limit });
  // A found schedule may have changed since the search.
  const showIfListed = (view: ScheduleView) =>
    isListed(view.schedule, filter) ? show(view) : { position: view.schedule.id, resource: null };
  return answer((bytesMax) =>
    answerFound(
      { ...page, bytesMax },
      found,
      (ids) => store.findSchedules(partition, ids),
      showIfListed,
      pause,
    ),
  );
}

function distinct(labels: Labels): Labels {
  return [...new Map(labels.map((label) => [JSON.stringify(label), label])).values()];
}

/** A label has one value, so two different values never match together. */
function isContradictory(labels: Labels): boolean {
  return new Set(labels.map(([name]) => name)).size < labels.length;
}

function isListed({ state, timing, metadata }: Schedule, filter: ScheduleFilter): boolean {
  const has = ([name, value]: Label) => metadata.some((one) => one[0] === name && one[1] === value);
  return (
    (filter.state === null || state === filter.state) &&
    (filter.kind === null || timing.kind === filter.kind) &&
    filter.labels.every(has)
  );
}
