/** `GET /v1/schedules`. Some filters have an index, and the others need a search (see the store port). */
import type { RenderedAnswer } from '#src/commands/command.ts';
import type { PauseLength } from '#src/commands/pauses.ts';
import { mayBeInDestination } from '#src/domain/destination.ts';
import { parseId, type ScheduleId } from '#src/domain/id.ts';
import type { Label, Labels } from '#src/domain/labels.ts';
import { isName } from '#src/domain/name.ts';
import type { Partition } from '#src/domain/project.ts';
import { SCHEDULE_KINDS, SCHEDULE_STATES, type Schedule, type ScheduleView } from '#src/domain/schedule.ts';
import { listFilterOf, type ScheduleFilter, type ScheduleSearch } from '#src/ports/lists.ts';
import type { Store } from '#src/ports/store.ts';
import type { Call } from './call.ts';
import { answerFound, answerPage, type Item, readPage } from './lists.ts';
import { presentSchedule } from './present.ts';
import { readChoice, readLabels, readText, readUrlPart } from './query.ts';

interface ScheduleListDependencies {
  readonly store: Pick<Store, 'findSchedules' | 'listSchedules' | 'searchSchedules'>;
  readonly pause: (partition: Partition, length?: PauseLength) => Promise<void>;
}

export async function listSchedules(
  { store, pause: pauseFor }: ScheduleListDependencies,
  { tenant: { partition, mode }, query, answer }: Pick<Call, 'tenant' | 'query' | 'answer'>,
  hidesQueries = false,
): Promise<RenderedAnswer> {
  const pause = (length?: PauseLength) => pauseFor(partition, length);
  const page = readPage(query, partition, 'schedules', 'sch');
  const search = readSearch(query, hidesQueries);
  const show = (view: ScheduleView): Item<ScheduleId> => ({
    position: view.schedule.id,
    resource: presentSchedule(view, mode),
  });

  const indexed = search && listFilterOf(search);
  if (indexed !== null) {
    return answer((bytesMax) =>
      answerPage(
        { ...page, bytesMax },
        (before, limit) => store.listSchedules(partition, indexed, { before, limit }),
        show,
        pause,
      ),
    );
  }

  const found =
    search === null
      ? { found: [], next: null }
      : await store.searchSchedules(partition, search, { before: page.after, limit: page.limit });
  // A found schedule may have changed since the search.
  const showIfListed = (view: ScheduleView) =>
    search !== null && isListed(view.schedule, search)
      ? show(view)
      : { position: view.schedule.id, resource: null };
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

/** Returns null if no schedule can match. */
function readSearch(query: URLSearchParams, hidesQueries: boolean): ScheduleSearch | null {
  const state = readChoice(query, 'state', SCHEDULE_STATES);
  const kind = readChoice(query, 'kind', SCHEDULE_KINDS);
  const destination = readUrlPart(query, 'q');
  const labels = distinct(readLabels(query));
  const endpointText = readText(query, 'endpoint_id');
  const endpointId = endpointText === null ? null : parseId('ep', endpointText);
  const name = readText(query, 'name');
  // A text that is not an id or a name belongs to nothing, and no URL has a control character.
  const isImpossible =
    (endpointText !== null && endpointId === null) ||
    (name !== null && !isName(name)) ||
    (destination !== null && !mayBeInDestination(destination)) ||
    isContradictory(labels);
  return isImpossible ? null : { state, kind, labels, name, endpointId, destination, hidesQueries };
}

function distinct(labels: Labels): Labels {
  return [...new Map(labels.map((label) => [JSON.stringify(label), label])).values()];
}

/** A label has one value, so two different values never match together. */
function isContradictory(labels: Labels): boolean {
  return new Set(labels.map(([name]) => name)).size < labels.length;
}

/** The destination of a profile is not compared again. */
function isListed({ state, timing, metadata, name, destination }: Schedule, wanted: ScheduleFilter): boolean {
  const has = ([label, value]: Label) => metadata.some((one) => one[0] === label && one[1] === value);
  const endpointId = destination.kind === 'profile' ? destination.endpointId : null;
  return (
    (wanted.state === null || state === wanted.state) &&
    (wanted.kind === null || timing.kind === wanted.kind) &&
    (wanted.name == null || name === wanted.name) &&
    (wanted.endpointId == null || endpointId === wanted.endpointId) &&
    wanted.labels.every(has)
  );
}
