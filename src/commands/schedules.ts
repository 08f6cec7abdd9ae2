import { isWaiting } from '#src/domain/delivery-lifecycle.ts';
import type { EndpointProfile } from '#src/domain/endpoint-profile.ts';
import { Refusal } from '#src/domain/errors.ts';
import type { Headers } from '#src/domain/headers.ts';
import type { EndpointId, ScheduleId } from '#src/domain/id.ts';
import type { Instant } from '#src/domain/instant.ts';
import { isJsonTextInSlices } from '#src/domain/json.ts';
import { encodePayload } from '#src/domain/payload.ts';
import type { Partition } from '#src/domain/project.ts';
import {
  isEnded,
  type Schedule,
  type ScheduleTerms,
  type ScheduleView,
  type Timing,
} from '#src/domain/schedule.ts';
import * as life from '#src/domain/schedule-lifecycle.ts';
import { payloadContext } from '#src/domain/sealing-contexts.ts';
import { dueDeliveryOf } from '#src/ports/endpoint-cache.ts';
import { cronFaultText } from '#src/texts/cron-fault-text.ts';
import { noObjectText } from '#src/texts/id-fault-text.ts';
import { profileArchivedText, scheduleEndedText } from '#src/texts/state-fault-text.ts';
import {
  areLarge,
  type Commands,
  type MakeReceipt,
  type Render,
  type RenderedAnswer,
  requireFound,
  retryUntilWritten,
  type WriteResult,
} from './command.ts';
import { finishSweep } from './finish-sweep.ts';

export interface NewSchedule extends ScheduleTerms {
  readonly headers: Headers;
  readonly body: string | null;
}

export async function createSchedule(
  { store, clock, ids, vault, hints, pause }: Commands,
  partition: Partition,
  read: (now: Instant) => NewSchedule,
  render: Render<ScheduleView>,
  makeReceipt: MakeReceipt,
): Promise<RenderedAnswer> {
  const now = clock.now();
  const given = read(now);
  const { headers, destination } = given;
  const id = ids.mint('sch', now);
  const deliveryId = ids.mint('dlv', now);
  const encoded = encodedPayload({ pause }, partition, given);
  const plain = encoded instanceof Promise ? await encoded : encoded;
  const payload = plain && vault.seal(payloadContext(partition, id, 1), plain);
  const headerNames = headers.map(([name]) => name);
  const payloadBytes = plain?.length ?? 0;

  return retryUntilWritten(async () => {
    const profile =
      destination.kind === 'inline'
        ? null
        : await requireUsableProfile(store, partition, destination.endpointId);
    const made = life.create(
      { ...given, partition, id, deliveryId, profile, headerNames, payloadBytes },
      now,
    );
    if (made === null) throw neverOccursRefusal(given.timing);
    if (areLarge(given.metadata)) await pause(partition);
    const answer = render({ ...made, profile });
    const written = await store.addSchedule({ ...made, payload, profile, receipt: makeReceipt(answer, now) });
    if (written === 'done') hints.due(dueDeliveryOf(made.pending));
    return { written, answer };
  });
}

/** A long body is checked in slices. Otherwise there is nothing to wait for. */
export function encodedPayload(
  { pause }: Pick<Commands, 'pause'>,
  partition: Partition,
  { headers, body }: Pick<NewSchedule, 'headers' | 'body'>,
): Uint8Array | null | Promise<Uint8Array | null> {
  const isJson = body !== null && isJsonTextInSlices(body, () => pause(partition));
  if (typeof isJson === 'boolean') return encodePayload(headers, body, isJson);
  return isJson.then((is) => encodePayload(headers, body, is));
}

export function neverOccursRefusal(timing: Timing): Refusal {
  const text = cronFaultText(timing.kind === 'recurring' ? timing.cron : '', 'cron');
  return new Refusal('invalid_cron', 'cron', text);
}

/** Finds the endpoint profile of a new schedule. */
export async function requireUsableProfile(
  store: Commands['store'],
  partition: Partition,
  id: EndpointId,
): Promise<EndpointProfile> {
  const profile = await store.findProfile(partition, id);
  if (profile === null) throw new Refusal('invalid_endpoint', 'endpoint_id', noObjectText(id));
  if (profile.archived) throw new Refusal('endpoint_archived', 'endpoint_id', profileArchivedText(id));
  return profile;
}

/** The fields are read after the schedule is found, because `not_found` takes precedence over invalid fields. */
export function editSchedule(
  commands: Commands,
  partition: Partition,
  id: ScheduleId,
  read: (schedule: Schedule) => life.ScheduleEdit,
  render: Render<ScheduleView>,
  makeReceipt: MakeReceipt,
): Promise<RenderedAnswer> {
  return change(commands, partition, id, render, makeReceipt, (view, now) =>
    life.edit(view, read(view.schedule), now),
  );
}

export function rescheduleSchedule(
  commands: Commands,
  partition: Partition,
  id: ScheduleId,
  read: (now: Instant) => Timing,
  render: Render<ScheduleView>,
  makeReceipt: MakeReceipt,
): Promise<RenderedAnswer> {
  return change(commands, partition, id, render, makeReceipt, (view, now) => {
    const { state } = view.schedule;
    if (isEnded(view.schedule)) throw new Refusal('schedule_not_active', null, scheduleEndedText(state));
    return life.reschedule(view, read(now), now);
  });
}

const ACTIONS = { pause: life.pause, resume: life.resume, cancel: life.cancel };
export type ScheduleAction = keyof typeof ACTIONS;

/** `checkFields` throws to refuse the request after the schedule was found. */
export function applyScheduleAction(
  commands: Commands,
  partition: Partition,
  id: ScheduleId,
  action: ScheduleAction,
  render: Render<ScheduleView>,
  checkFields: () => void = () => {},
): Promise<RenderedAnswer> {
  const finish = () => finishSweep(commands, partition, id);
  const decide = (view: ScheduleView, now: Instant) => {
    checkFields();
    return ACTIONS[action](view, now);
  };
  return change(commands, partition, id, render, () => null, decide, finish);
}

/**
 * Decides from the stored state and writes the decision, unless nothing changes. The answer waits for `finish` in both
 * cases, because an earlier action may have left a sweep unfinished.
 */
function change(
  { store, clock, hints, mutex, pause }: Commands,
  partition: Partition,
  id: ScheduleId,
  render: Render<ScheduleView>,
  makeReceipt: MakeReceipt,
  decide: (view: ScheduleView, now: Instant) => life.ScheduleChange | null,
  finish: () => Promise<void> = async () => {},
): Promise<RenderedAnswer> {
  const write = async (): Promise<WriteResult> => {
    const view = requireFound(await store.findSchedule(partition, id), id);
    if (areLarge(view.schedule.metadata)) await pause(partition);
    const now = clock.now();
    const changed = decide(view, now);
    if (changed !== null && areLarge(changed.schedule.metadata)) await pause(partition);
    const after = changed === null ? view : { ...view, ...changed, pending: changed.pending ?? view.pending };
    const answer = render(after);
    const receipt = makeReceipt(answer, now);
    if (changed === null) {
      return { written: receipt === null ? 'done' : await store.addReceipt(partition, receipt), answer };
    }
    const written = await store.replaceSchedule({ ...changed, receipt });
    if (written === 'done') {
      if (changed.pending !== null) hints.due(dueDeliveryOf(changed.pending));
      if (changed.sweep !== null && isWaiting(changed.sweep.unattemptedTo)) hints.rescan();
    }
    return { written, answer };
  };
  return mutex.run(`${partition}/${id}`, async () => {
    const answer = await retryUntilWritten(write);
    await finish();
    return answer;
  });
}
