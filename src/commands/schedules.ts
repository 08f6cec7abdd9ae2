import { isWaiting } from '#src/domain/delivery-life.ts';
import { dueOf } from '#src/domain/due.ts';
import { Refusal } from '#src/domain/errors.ts';
import type { Headers } from '#src/domain/headers.ts';
import type { EndpointId, ScheduleId } from '#src/domain/id.ts';
import type { Instant } from '#src/domain/instant.ts';
import { isJsonTextInSlices } from '#src/domain/json.ts';
import type { Partition } from '#src/domain/partition.ts';
import { encodePayload } from '#src/domain/payload.ts';
import type { EndpointProfile } from '#src/domain/profile.ts';
import {
  isEnded,
  type Schedule,
  type ScheduleTerms,
  type ScheduleView,
  type Timing,
} from '#src/domain/schedule.ts';
import * as life from '#src/domain/schedule-life.ts';
import { payloadPlace } from '#src/domain/sealed-places.ts';
import {
  areLarge,
  type Commands,
  type Finished,
  found,
  type Keep,
  type Render,
  type Tried,
  untilWritten,
} from './command.ts';
import { finishSweep } from './finish-sweep.ts';

export interface ScheduleOrder extends ScheduleTerms {
  readonly headers: Headers;
  readonly body: string | null;
}

export async function createSchedule(
  { store, clock, ids, vault, hints, pause }: Commands,
  partition: Partition,
  read: (now: Instant) => ScheduleOrder,
  render: Render<ScheduleView>,
  keep: Keep,
): Promise<Finished> {
  const now = clock.now();
  const { headers, body, ...order } = read(now);
  const id = ids.mint('sch', now);
  const deliveryId = ids.mint('dlv', now);
  const isJson = body !== null && (await isJsonTextInSlices(body, () => pause(partition)));
  const plain = encodePayload(headers, body, isJson);
  const payload = plain && vault.seal(payloadPlace(partition, id), plain);
  const headerNames = headers.map(([name]) => name);
  const payloadBytes = plain?.length ?? 0;

  return untilWritten(async () => {
    const { destination } = order;
    const profile =
      destination.kind === 'inline' ? null : await backing(store, partition, destination.endpointId);
    const made = life.create(
      { ...order, partition, id, deliveryId, profile, headerNames, payloadBytes },
      now,
    );
    if (made === null) throw new Refusal('invalid_cron', 'cron');
    if (areLarge(order.metadata)) await pause(partition);
    const finished = render({ ...made, profile });
    const written = await store.addSchedule({ ...made, payload, profile, receipt: keep(finished, now) });
    if (written === 'done') hints.due(dueOf(made.pending));
    return { written, finished };
  });
}

/** The profile a new schedule shall deliver through. */
async function backing(
  store: Commands['store'],
  partition: Partition,
  id: EndpointId,
): Promise<EndpointProfile> {
  const profile = await store.findProfile(partition, id);
  if (profile === null) throw new Refusal('invalid_endpoint', 'endpoint_id');
  if (profile.archived) throw new Refusal('endpoint_archived', 'endpoint_id');
  return profile;
}

/** Fields are read once the schedule is known: that there is none outranks a fault in them. */
export function editSchedule(
  commands: Commands,
  partition: Partition,
  id: ScheduleId,
  read: (schedule: Schedule) => life.ScheduleEdit,
  render: Render<ScheduleView>,
  keep: Keep,
): Promise<Finished> {
  return change(commands, partition, id, render, keep, (view, now) =>
    life.edit(view, read(view.schedule), now),
  );
}

export function rescheduleSchedule(
  commands: Commands,
  partition: Partition,
  id: ScheduleId,
  read: (now: Instant) => Timing,
  render: Render<ScheduleView>,
  keep: Keep,
): Promise<Finished> {
  return change(commands, partition, id, render, keep, (view, now) => {
    if (isEnded(view.schedule)) throw new Refusal('schedule_not_active');
    return life.reschedule(view, read(now), now);
  });
}

const ORDERS = { pause: life.pause, resume: life.resume, cancel: life.cancel };
export type Order = keyof typeof ORDERS;

export function orderSchedule(
  commands: Commands,
  partition: Partition,
  id: ScheduleId,
  order: Order,
  render: Render<ScheduleView>,
): Promise<Finished> {
  const finish = () => finishSweep(commands, partition, id);
  return change(commands, partition, id, render, () => null, ORDERS[order], finish);
}

/**
 * Decides on what is stored now and writes the decision, unless there is nothing to change. It is answered when it is
 * finished, also where there was nothing to change: what was decided before may not be finished yet.
 */
function change(
  { store, clock, hints, turns, pause }: Commands,
  partition: Partition,
  id: ScheduleId,
  render: Render<ScheduleView>,
  keep: Keep,
  decide: (view: ScheduleView, now: Instant) => life.ScheduleChange | null,
  finish: () => Promise<void> = async () => {},
): Promise<Finished> {
  const attempt = async (): Promise<Tried> => {
    const view = found(await store.findSchedule(partition, id));
    if (areLarge(view.schedule.metadata)) await pause(partition);
    const now = clock.now();
    const changed = decide(view, now);
    if (changed !== null && areLarge(changed.schedule.metadata)) await pause(partition);
    const after = changed === null ? view : { ...view, ...changed, pending: changed.pending ?? view.pending };
    const finished = render(after);
    const receipt = keep(finished, now);
    if (changed === null) {
      return { written: receipt === null ? 'done' : await store.addReceipt(partition, receipt), finished };
    }
    const written = await store.replaceSchedule({ ...changed, receipt });
    if (written === 'done') {
      if (changed.pending !== null) hints.due(dueOf(changed.pending));
      if (changed.sweep !== null && isWaiting(changed.sweep.untriedTo)) hints.rescan();
    }
    return { written, finished };
  };
  return turns.take(`${partition}/${id}`, async () => {
    const finished = await untilWritten(attempt);
    await finish();
    return finished;
  });
}
