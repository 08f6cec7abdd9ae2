/** Creates, changes and finds a schedule by its name. */

import { comparableLabels } from '#src/domain/comparable.ts';
import type { EndpointProfile, FiringProfile } from '#src/domain/endpoint-profile.ts';
import { Refusal } from '#src/domain/errors.ts';
import { type DeliveryId, firstIdAt } from '#src/domain/id.ts';
import { type Instant, instant } from '#src/domain/instant.ts';
import { decodePayload, NO_PAYLOAD, type Payload } from '#src/domain/payload.ts';
import type { Partition } from '#src/domain/project.ts';
import { isEnded, type Schedule, type ScheduleView } from '#src/domain/schedule.ts';
import * as life from '#src/domain/schedule-lifecycle.ts';
import { differingFields, equalize, isInProgress, type WantedSchedule } from '#src/domain/schedule-put.ts';
import { payloadContext } from '#src/domain/sealing-contexts.ts';
import { dueDeliveryOf } from '#src/ports/endpoint-cache.ts';
import type { PayloadReplacement } from '#src/ports/store.ts';
import {
  areLarge,
  type Commands,
  type RenderedAnswer,
  requireFound,
  retryUntilWritten,
  type WriteResult,
} from './command.ts';
import { byName, type PutAnswers, unchanged } from './put.ts';
import { requireNotifiable, requireUsableProfile } from './required-profiles.ts';
import { createSchedule, encodedPayload, type NewSchedule, neverOccursRefusal } from './schedules.ts';

/** Clocks of nodes differ by less than this. Ids begin with the instant at which a node made them. */
const CLOCK_MARGIN_MS = 60_000;

/** Finds the active or paused schedule that has this name. */
export async function findNamedSchedule(
  { store }: Pick<Commands, 'store'>,
  partition: Partition,
  name: string,
): Promise<ScheduleView | null> {
  const id = await store.findNamed(partition, 'schedule', name);
  const view = id === null ? null : await store.findSchedule(partition, id);
  // It may have been renamed, or have ended, since its name was read.
  return view?.schedule.name === name && !isEnded(view.schedule) ? view : null;
}

/** `present`: the schedule that has the name, whose instant may lie in the past by now. */
export type ReadWanted = (now: Instant, present: Schedule | null) => NewSchedule;

/** `read` names the schedule as the path does. */
export function putSchedule(
  commands: Commands,
  partition: Partition,
  name: string,
  read: ReadWanted,
  answers: PutAnswers<ScheduleView>,
): Promise<RenderedAnswer> {
  return byName(commands, partition, 'schedule', name, async () => {
    const view = await findNamedSchedule(commands, partition, name);
    if (view !== null) {
      const { id } = view.schedule;
      return commands.mutex.run(`${partition}/${id}`, () =>
        retryUntilWritten(() => change(commands, partition, name, read, answers)),
      );
    }
    if (answers.plan !== null) return planCreation(commands, partition, read, answers.plan);
    return createSchedule(
      commands,
      partition,
      (now) => read(now, null),
      answers.created,
      () => null,
    );
  });
}

/** Refuses what the creation would refuse. */
async function planCreation(
  { store, clock, ids }: Commands,
  partition: Partition,
  read: ReadWanted,
  plan: NonNullable<PutAnswers<ScheduleView>['plan']>,
): Promise<RenderedAnswer> {
  const now = clock.now();
  const given = read(now, null);
  const { destination } = given;
  const profile =
    destination.kind === 'inline'
      ? null
      : await requireUsableProfile(store, partition, destination.endpointId);
  const minted = { id: ids.mint('sch', now), deliveryId: ids.mint('dlv', now) };
  const made = life.create(
    { ...given, ...minted, partition, profile, headerNames: [], payloadBytes: 0 },
    now,
  );
  if (made === null) throw neverOccursRefusal(given.timing);
  await requireNotifiable(store, partition, given.notify);
  return plan('create', []);
}

async function change(
  commands: Commands,
  partition: Partition,
  name: string,
  read: ReadWanted,
  answers: PutAnswers<ScheduleView>,
): Promise<WriteResult> {
  const { store, clock, vault, hints, pause } = commands;
  const view = await findNamedSchedule(commands, partition, name);
  // The schedule has ended in the meantime. The name is free, and the write begins anew.
  if (view === null) throw new Refusal('name_taken', 'name');
  const { schedule } = view;
  const now = clock.now();
  const given = read(now, schedule);
  if (areLarge(schedule.metadata) || areLarge(given.metadata)) await pause(partition);
  const stored = await openPayload(commands, schedule);
  if (stored === null && (await isPayloadReplaced(commands, schedule))) {
    return { written: 'stale', answer: answers.present(view) };
  }
  const payloadFields = stored === null ? PAYLOAD_FIELDS : differingPayloadFields(stored, given);
  const wanted = await wantedOf(commands, partition, schedule, given, payloadFields.length > 0);
  const fields = [...differingFields(schedule, wanted.terms), ...payloadFields];
  if (fields.length === 0) {
    return { written: 'done', answer: answers.plan?.('none', []) ?? unchanged(answers.present(view)) };
  }

  // The state of the schedule is checked before the profile is looked up.
  if (isInProgress(view, wanted.terms)) throw new Refusal('delivery_in_progress');
  const profile = await profileOf(commands, partition, view, wanted.terms);
  const equal = equalize(
    view,
    { wanted: wanted.terms, profile, hasNewPayload: payloadFields.length > 0 },
    now,
  );
  if (equal === 'in_progress') throw new Refusal('delivery_in_progress');
  if (equal === 'never_occurs') throw neverOccursRefusal(given.timing);
  const notified = await requireNotifiable(store, partition, wanted.terms.notify);
  if (answers.plan !== null) return { written: 'done', answer: answers.plan('change', fields) };

  const { payloadVersion } = equal.schedule;
  const payload: PayloadReplacement | null =
    payloadFields.length === 0
      ? null
      : {
          sealed:
            wanted.plain && vault.seal(payloadContext(partition, schedule.id, payloadVersion), wanted.plain),
          ...idsAround(schedule, now),
        };
  const answer = answers.present({ ...equal, pending: equal.pending ?? view.pending, profile });
  const written = await store.replaceSchedule({ ...equal, payload, profile, notified, receipt: null });
  if (written === 'done' && equal.pending !== null) hints.due(dueDeliveryOf(equal.pending));
  return { written, answer };
}

/** Null if the payload has been replaced since the schedule was read, or is lost. A lost one differs from every other. */
async function openPayload({ store, vault }: Commands, schedule: Schedule): Promise<Payload | null> {
  const { partition, id, payloadBytes, payloadVersion } = schedule;
  if (payloadBytes === 0) return NO_PAYLOAD;
  const sealed = await store.findPayload(partition, id, payloadVersion);
  return sealed && decodePayload(vault.open(payloadContext(partition, id, payloadVersion), sealed));
}

async function isPayloadReplaced(
  { store }: Pick<Commands, 'store'>,
  { partition, id, payloadVersion }: Schedule,
): Promise<boolean> {
  const view = await store.findSchedule(partition, id);
  return view?.schedule.payloadVersion !== payloadVersion;
}

const PAYLOAD_FIELDS = ['headers', 'body'];

function differingPayloadFields(stored: Payload, { headers, body }: NewSchedule): readonly string[] {
  const isSameBody =
    body === null || stored.body === null
      ? body === stored.body
      : Buffer.compare(stored.body, Buffer.from(body)) === 0;
  return [
    ...(comparableLabels(stored.headers) === comparableLabels(headers) ? [] : ['headers']),
    ...(isSameBody ? [] : ['body']),
  ];
}

/** The payload is encoded only if it differs. */
async function wantedOf(
  commands: Commands,
  partition: Partition,
  schedule: Schedule,
  given: NewSchedule,
  hasNewPayload: boolean,
): Promise<{ readonly terms: WantedSchedule; readonly plain: Uint8Array | null }> {
  const { name: _name, headers, body: _body, ...terms } = given;
  const plain = hasNewPayload ? await encodedPayload(commands, partition, given) : null;
  const { headerNames, payloadBytes } = hasNewPayload
    ? { headerNames: headers.map(([header]) => header), payloadBytes: plain?.length ?? 0 }
    : schedule;
  return { terms: { ...terms, headerNames, payloadBytes }, plain };
}

/** The profile that the schedule has now may be kept. Another one must be usable. */
async function profileOf(
  { store }: Commands,
  partition: Partition,
  view: ScheduleView,
  { destination }: WantedSchedule,
): Promise<FiringProfile | EndpointProfile | null> {
  if (destination.kind === 'inline') return null;
  if (destination.endpointId === view.profile?.id) return view.profile;
  return requireUsableProfile(store, partition, destination.endpointId);
}

/** The ids of deliveries that may name the new version of the payload, and the version before. */
function idsAround({ pendingId }: Schedule, now: Instant): Pick<PayloadReplacement, 'sinceId' | 'lastId'> {
  const earliest = firstIdAt('dlv', instant(Math.max(now - CLOCK_MARGIN_MS, 0)));
  const latest = firstIdAt('dlv', instant(now + CLOCK_MARGIN_MS));
  return {
    sinceId: (pendingId < earliest ? pendingId : earliest) as DeliveryId,
    lastId: (pendingId > latest ? pendingId : latest) as DeliveryId,
  };
}

export async function getNamedSchedule(
  commands: Pick<Commands, 'store'>,
  partition: Partition,
  name: string,
): Promise<ScheduleView> {
  return requireFound(await findNamedSchedule(commands, partition, name));
}
