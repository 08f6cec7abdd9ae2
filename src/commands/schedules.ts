import { isWaiting } from '#src/domain/delivery-lifecycle.ts';
import type { EndpointProfile } from '#src/domain/endpoint-profile.ts';
import { Refusal } from '#src/domain/errors.ts';
import type { Headers } from '#src/domain/headers.ts';
import type { ScheduleId } from '#src/domain/id.ts';
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
import { makeNotification } from '#src/ports/notifications.ts';
import { cronFaultText } from '#src/texts/cron-fault-text.ts';
import { scheduleEndedText } from '#src/texts/state-fault-text.ts';
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
import { requireNotifiable, requireUsableProfile } from './required-profiles.ts';

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
    const notified = await requireNotifiable(store, partition, given.notify);
    if (areLarge(given.metadata)) await pause(partition);
    const answer = render({ ...made, profile });
    const receipt = makeReceipt(answer, now);
    const written = await store.addSchedule({ ...made, payload, profile, notified, receipt });
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

/** The fields are read after the schedule is found, because `not_found` takes precedence over invalid fields. */
export function editSchedule(
  commands: Commands,
  partition: Partition,
  id: ScheduleId,
  read: (schedule: Schedule) => life.ScheduleEdit,
  render: Render<ScheduleView>,
  makeReceipt: MakeReceipt,
): Promise<RenderedAnswer> {
  return change(commands, partition, id, render, makeReceipt, async (view, now) => {
    const edit = read(view.schedule);
    const notified = await requireNotifiable(commands.store, partition, edit.notify);
    return { ...life.edit(view, edit, now), notified };
  });
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

/** A change, and the profile that the schedule begins to notify. Null: nothing changes. */
type Decided = (life.ScheduleChange & { readonly notified?: EndpointProfile | null }) | null;

/**
 * Decides from the stored state and writes the decision, unless nothing changes. The answer waits for `finish` in both
 * cases, because an earlier action may have left a sweep unfinished.
 */
function change(
  { store, clock, ids, hints, mutex, pause }: Commands,
  partition: Partition,
  id: ScheduleId,
  render: Render<ScheduleView>,
  makeReceipt: MakeReceipt,
  decide: (view: ScheduleView, now: Instant) => Decided | Promise<Decided>,
  finish: () => Promise<void> = async () => {},
): Promise<RenderedAnswer> {
  const write = async (): Promise<WriteResult> => {
    const view = requireFound(await store.findSchedule(partition, id), id);
    if (areLarge(view.schedule.metadata)) await pause(partition);
    const now = clock.now();
    const changed = await decide(view, now);
    if (changed !== null && areLarge(changed.schedule.metadata)) await pause(partition);
    const after = changed === null ? view : { ...view, ...changed, pending: changed.pending ?? view.pending };
    const answer = render(after);
    const receipt = makeReceipt(answer, now);
    if (changed === null) {
      return { written: receipt === null ? 'done' : await store.addReceipt(partition, receipt), answer };
    }
    // A resume may end the delivery.
    const { pending } = changed;
    const notification = pending && (await makeNotification({ store, ids }, pending, now));
    const written = await store.replaceSchedule({ ...changed, notification, receipt });
    if (written === 'done') {
      if (pending !== null) hints.due(dueDeliveryOf(pending));
      if (notification !== null) hints.due(dueDeliveryOf(notification));
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
