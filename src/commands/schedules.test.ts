import { describe, expect, test, vi } from 'vitest';
import type { DueDelivery } from '#src/domain/due-delivery.ts';
import { archiveProfile, type EndpointProfile, editProfile } from '#src/domain/endpoint-profile.ts';
import { Refusal } from '#src/domain/errors.ts';
import { type Instant, instant } from '#src/domain/instant.ts';
import { decodePayload } from '#src/domain/payload.ts';
import type { Partition } from '#src/domain/project.ts';
import type { ScheduleView, Timing } from '#src/domain/schedule.ts';
import * as life from '#src/domain/schedule-lifecycle.ts';
import { payloadContext } from '#src/domain/sealing-contexts.ts';
import { type Receipt, StoreUnavailable } from '#src/ports/store.ts';
import { type ControlHarness, openControlHarness, START } from '#test/process/control-harness.ts';
import { Builders, FAILURE, HOUR_MS, HOURLY, SUCCESS } from '#test/store-contract/builders.ts';
import { ALL_DELIVERIES, ALL_SCHEDULES } from '#test/store-contract/everything.ts';
import { interleaved } from '#test/store-contract/interleave.ts';
import {
  CONFLICTS_MAX,
  type Commands,
  IdempotencyKeyTaken,
  KeyedMutex,
  type MakeReceipt,
} from './command.ts';
import {
  applyScheduleAction,
  createSchedule,
  editSchedule,
  type NewSchedule,
  rescheduleSchedule,
  type ScheduleAction,
} from './schedules.ts';

const PARTITION = 1 as Partition;
const NO_RECEIPT: MakeReceipt = () => null;
const LATER: Timing = { kind: 'one_shot', fireAt: instant(START + HOUR_MS), timezone: null };

const ORDER: NewSchedule = {
  name: null,
  timing: LATER,
  destination: { kind: 'inline', url: 'https://example.com/hook', method: 'POST' },
  headers: [['X-Tenant', 'acme']],
  body: '{"hello":"world"}',
  jitter: null,
  ttl: null,
  idempotencyKey: null,
  retryPolicy: null,
  rateLimit: null,
  notify: null,
  metadata: [['team', 'ops']],
};

/** The commands on a harness, and their hints. */
function commandsOf(
  harness: ControlHarness,
): Commands & { readonly hinted: readonly Instant[]; readonly rescans: readonly true[] } {
  const hinted: Instant[] = [];
  const rescans: true[] = [];
  const { store, clock, ids, vault } = harness;
  const hints = {
    due: (due: DueDelivery | null) => hinted.push(...(due === null ? [] : [due.dueAt])),
    rescan: () => rescans.push(true),
  };
  return { store, clock, ids, vault, hinted, rescans, hints, mutex: new KeyedMutex(), pause: async () => {} };
}

/** Renders the view as the body, so that a test can compare an answer with the stored view. */
function render({ schedule, pending, profile }: ScheduleView) {
  return { status: 200, body: JSON.stringify({ schedule, pending, profile }) };
}

async function listed(harness: ControlHarness): Promise<readonly ScheduleView[]> {
  return (await harness.store.listSchedules(PARTITION, ALL_SCHEDULES, { before: null, limit: 9 })).items;
}

async function stored(harness: ControlHarness): Promise<ScheduleView> {
  const [view] = await listed(harness);
  if (view === undefined) throw new Error('Nothing is stored.');
  return view;
}

async function expectAnswered(
  harness: ControlHarness,
  answer: Promise<{ readonly body: string }>,
): Promise<ScheduleView> {
  const view = JSON.parse((await answer).body) as ScheduleView;
  expect(view).toMatchObject(await stored(harness));
  return view;
}

function keepAs(key: string): MakeReceipt {
  return ({ status, body }, now): Receipt => ({
    key,
    fingerprint: key,
    status,
    body,
    createdAt: now,
    expiresAt: instant(now + 1_000),
  });
}

async function given(harness: ControlHarness, order: Partial<NewSchedule> = {}): Promise<ScheduleView> {
  await createSchedule(commandsOf(harness), PARTITION, () => ({ ...ORDER, ...order }), render, NO_RECEIPT);
  return stored(harness);
}

/** A concurrent write that decides from the stored state at that moment. */
async function writeConcurrently(
  harness: ControlHarness,
  decide: (view: ScheduleView) => life.ScheduleChange | null,
) {
  const change = decide(await stored(harness));
  if (change === null) throw new Error('There is something to change.');
  expect(await harness.store.replaceSchedule({ ...change, receipt: null })).toBe('done');
}

async function fired(harness: ControlHarness): Promise<void> {
  const builders = new Builders(PARTITION, harness.ids);
  const view = await stored(harness);
  if (view.pending === null) throw new Error('There is a pending delivery.');
  expect(await harness.store.claim([builders.claim(view.pending, view)])).toEqual(['done']);
}

describe('creating a schedule', () => {
  test('stores the answered schedule with a sealed payload, and hints its due instant', async () => {
    await using harness = await openControlHarness();
    const commands = commandsOf(harness);
    const answer = createSchedule(commands, PARTITION, () => ORDER, render, NO_RECEIPT);
    const { schedule } = await expectAnswered(harness, answer);
    expect(schedule).toMatchObject({
      headerNames: ['X-Tenant'],
      metadata: [['team', 'ops']],
      createdAt: START,
    });
    const sealed = await harness.store.findPayload(PARTITION, schedule.id, 1);
    if (sealed === null) throw new Error('The payload is stored.');
    expect(Buffer.from(sealed).includes('hello')).toBe(false);
    expect(decodePayload(harness.vault.open(payloadContext(PARTITION, schedule.id, 1), sealed))).toEqual({
      headers: ORDER.headers,
      body: Buffer.from(ORDER.body ?? ''),
      isJson: true,
    });
    expect(schedule.payloadBytes).toBeGreaterThan(ORDER.body?.length ?? 0);
    expect(commands.hinted).toEqual([START + HOUR_MS]);
  });

  test('uses one instant for reading and for all rules', async () => {
    await using harness = await openControlHarness();
    const at = harness.advance(1_234);
    const read = (now: Instant) => {
      harness.advance(50);
      return {
        ...ORDER,
        timing: { kind: 'one_shot', fireAt: instant(now + 1_000), timezone: null } as const,
      };
    };
    const answer = createSchedule(commandsOf(harness), PARTITION, read, render, NO_RECEIPT);
    const { schedule, pending } = await expectAnswered(harness, answer);
    expect([schedule.createdAt, pending?.scheduledFor]).toEqual([at, at + 1_000]);
  });

  test('stores nothing if it is refused', async () => {
    await using harness = await openControlHarness();
    const commands = commandsOf(harness);
    const refused = createSchedule(
      commands,
      PARTITION,
      () => {
        throw new Refusal('missing_timing');
      },
      render,
      keepAs('key'),
    );
    await expect(refused).rejects.toMatchObject({ code: 'missing_timing' });
    const never = { ...ORDER, timing: { ...HOURLY, cron: '0 0 30 2 *' } as Timing };
    const answer = createSchedule(commands, PARTITION, () => never, render, keepAs('key'));
    await expect(answer).rejects.toMatchObject({ code: 'invalid_cron', param: 'cron' });
    expect(await listed(harness)).toEqual([]);
    expect(await harness.store.findReceipt(PARTITION, 'key', START)).toBeNull();
    expect(commands.hinted).toEqual([]);
  });

  test('stores its receipt with the effect, and has no effect with a taken key', async () => {
    await using harness = await openControlHarness();
    const commands = commandsOf(harness);
    const { body } = await createSchedule(commands, PARTITION, () => ORDER, render, keepAs('key'));
    expect(await harness.store.findReceipt(PARTITION, 'key', START)).toMatchObject({ status: 200, body });
    const again = createSchedule(commands, PARTITION, () => ORDER, render, keepAs('key'));
    await expect(again).rejects.toThrow(IdempotencyKeyTaken);
    expect(await listed(harness)).toHaveLength(1);
    expect(commands.hinted).toHaveLength(1);
  });
});

describe('creating a schedule through an endpoint profile', () => {
  async function givenProfile(
    harness: ControlHarness,
  ): Promise<{ profile: EndpointProfile; order: NewSchedule }> {
    const profile = new Builders(PARTITION, harness.ids).profile();
    expect(await harness.store.addProfile({ profile, headers: null, receipt: null })).toBe('done');
    return { profile, order: { ...ORDER, destination: { kind: 'profile', endpointId: profile.id } } };
  }

  test('that was edited at the same time uses the new version', async () => {
    await using harness = await openControlHarness();
    const { profile, order } = await givenProfile(harness);
    const edited = editProfile(profile, { url: 'https://example.com/v2' }, START);
    const store = interleaved(harness.store, 'addSchedule', () =>
      harness.store.replaceProfile({ profile: edited, headers: null, receipt: null }),
    );
    const commands = { ...commandsOf(harness), store };
    const answer = createSchedule(commands, PARTITION, () => order, render, keepAs('key'));
    const view = await expectAnswered(harness, answer);
    expect(view.pending?.target).toMatchObject({ url: 'https://example.com/v2', endpointVersion: 2 });
    expect(view.profile).toEqual(edited);
  });

  test('that was archived at the same time is refused and stores nothing', async () => {
    await using harness = await openControlHarness();
    const { profile, order } = await givenProfile(harness);
    const store = interleaved(harness.store, 'addSchedule', () =>
      harness.store.archiveProfile(archiveProfile(profile, START)),
    );
    const commands = { ...commandsOf(harness), store };
    const answer = createSchedule(commands, PARTITION, () => order, render, keepAs('key'));
    await expect(answer).rejects.toMatchObject({ code: 'endpoint_archived', param: 'endpoint_id' });
    expect(await listed(harness)).toEqual([]);
    expect(await harness.store.findReceipt(PARTITION, 'key', START)).toBeNull();
  });

  test('that does not exist, or only in another partition, is refused', async () => {
    await using harness = await openControlHarness();
    const { order } = await givenProfile(harness);
    const elsewhere = createSchedule(commandsOf(harness), 2 as Partition, () => order, render, NO_RECEIPT);
    await expect(elsewhere).rejects.toMatchObject({ code: 'invalid_endpoint', param: 'endpoint_id' });
  });

  test('that keeps changing fails', async () => {
    await using harness = await openControlHarness();
    const { profile, order } = await givenProfile(harness);
    let current = profile;
    const change = () => {
      current = editProfile(current, {}, START);
      return harness.store.replaceProfile({ profile: current, headers: null, receipt: null });
    };
    const store = interleaved(harness.store, 'addSchedule', change, Number.POSITIVE_INFINITY);
    const answer = createSchedule(
      { ...commandsOf(harness), store },
      PARTITION,
      () => order,
      render,
      NO_RECEIPT,
    );
    await expect(answer).rejects.toThrow(StoreUnavailable);
    expect(current.revision).toBe(CONFLICTS_MAX + 1);
  });
});

describe('editing a schedule', () => {
  test('does not change a delivery that is claimed at the same time', async () => {
    await using harness = await openControlHarness();
    const before = await given(harness);
    const store = interleaved(harness.store, 'replaceSchedule', () => fired(harness));
    const answer = editSchedule(
      { ...commandsOf(harness), store },
      PARTITION,
      before.schedule.id,
      () => ({ ttl: '9h' }),
      render,
      NO_RECEIPT,
    );
    const view = await expectAnswered(harness, answer);
    expect(view).toMatchObject({ schedule: { ttl: '9h' }, pending: { status: 'claimed', ttl: null } });
  });

  test('keeps a concurrent edit, and checks the fields against the stored schedule', async () => {
    await using harness = await openControlHarness();
    const { schedule } = await given(harness);
    const store = interleaved(
      harness.store,
      'replaceSchedule',
      (time) =>
        writeConcurrently(harness, (view) => life.edit(view, { metadata: [['time', String(time)]] }, START)),
      3,
    );
    const seen: number[] = [];
    const read = (read: ScheduleView['schedule']) => {
      seen.push(read.revision);
      return { ttl: '9h' };
    };
    const answer = editSchedule(
      { ...commandsOf(harness), store },
      PARTITION,
      schedule.id,
      read,
      render,
      keepAs('key'),
    );
    const view = await expectAnswered(harness, answer);
    expect(view.schedule).toMatchObject({ ttl: '9h', metadata: [['time', '3']], revision: 5 });
    expect(seen).toEqual([1, 2, 3, 4]);
    const receipt = await harness.store.findReceipt(PARTITION, 'key', START);
    expect(JSON.parse(receipt?.body ?? 'null')).toEqual(view);
  });

  test('changes a schedule that is canceled at the same time, but not its canceled delivery', async () => {
    await using harness = await openControlHarness();
    const { schedule } = await given(harness);
    const store = interleaved(harness.store, 'replaceSchedule', () =>
      writeConcurrently(harness, (view) => life.cancel(view, START)),
    );
    const answer = editSchedule(
      { ...commandsOf(harness), store },
      PARTITION,
      schedule.id,
      () => ({ ttl: '9h' }),
      render,
      NO_RECEIPT,
    );
    expect(await expectAnswered(harness, answer)).toMatchObject({
      schedule: { state: 'canceled', ttl: '9h' },
      pending: { status: 'canceled', ttl: null },
    });
  });

  test('refuses an unknown schedule before its fields are read', async () => {
    await using harness = await openControlHarness();
    const { schedule } = await given(harness);
    const unread = () => {
      throw new Error('Fields are read too early.');
    };
    const answer = editSchedule(commandsOf(harness), 2 as Partition, schedule.id, unread, render, NO_RECEIPT);
    await expect(answer).rejects.toMatchObject({ code: 'not_found' });
  });

  test('waits for other changes of the same schedule, so that many at once decide once each', async () => {
    await using harness = await openControlHarness();
    const { schedule } = await given(harness);
    const commands = commandsOf(harness);
    const read = vi.fn(() => ({ ttl: '9h' }));
    // More than the number of times that a conflicting decision is made again.
    const edits = Array.from({ length: 30 }, () =>
      editSchedule(commands, PARTITION, schedule.id, read, render, NO_RECEIPT),
    );
    await Promise.all(edits);
    expect(read).toHaveBeenCalledTimes(edits.length);
  });
});

describe('rescheduling', () => {
  const SOON: Timing = { kind: 'one_shot', fireAt: instant(START + 5_000), timezone: null };

  test('moves the delivery and hints its new due instant', async () => {
    await using harness = await openControlHarness();
    const { schedule } = await given(harness);
    const commands = commandsOf(harness);
    const view = await expectAnswered(
      harness,
      rescheduleSchedule(commands, PARTITION, schedule.id, () => SOON, render, NO_RECEIPT),
    );
    expect(view.pending?.dueAt).toBe(START + 5_000);
    expect(commands.hinted).toEqual([START + 5_000]);
  });

  test('changes nothing if its delivery is claimed at the same time, and answers the actual state', async () => {
    await using harness = await openControlHarness();
    const { schedule } = await given(harness);
    const store = interleaved(harness.store, 'replaceSchedule', () => fired(harness));
    const commands = { ...commandsOf(harness), store };
    const answer = rescheduleSchedule(commands, PARTITION, schedule.id, () => SOON, render, keepAs('key'));
    const view = await expectAnswered(harness, answer);
    expect(view).toMatchObject({ schedule: { timing: LATER, revision: 1 }, pending: { status: 'claimed' } });
    expect(JSON.parse((await harness.store.findReceipt(PARTITION, 'key', START))?.body ?? 'null')).toEqual(
      view,
    );
    expect(commands.hinted).toEqual([]);
  });

  test('is refused if the schedule is canceled at the same time, and stores no receipt', async () => {
    await using harness = await openControlHarness();
    const { schedule } = await given(harness);
    const store = interleaved(harness.store, 'replaceSchedule', () =>
      writeConcurrently(harness, (view) => life.cancel(view, START)),
    );
    const answer = rescheduleSchedule(
      { ...commandsOf(harness), store },
      PARTITION,
      schedule.id,
      () => SOON,
      render,
      keepAs('key'),
    );
    await expect(answer).rejects.toMatchObject({ code: 'schedule_not_active' });
    expect(await harness.store.findReceipt(PARTITION, 'key', START)).toBeNull();
  });

  test('refuses an ended schedule before its fields are read', async () => {
    await using harness = await openControlHarness();
    const { schedule } = await given(harness);
    await applyScheduleAction(commandsOf(harness), PARTITION, schedule.id, 'cancel', render);
    const unread = () => {
      throw new Error('Fields are read too early.');
    };
    const answer = rescheduleSchedule(
      commandsOf(harness),
      PARTITION,
      schedule.id,
      unread,
      render,
      NO_RECEIPT,
    );
    await expect(answer).rejects.toMatchObject({ code: 'schedule_not_active' });
  });

  test('stores its receipt once, even if it changes nothing', async () => {
    await using harness = await openControlHarness();
    const { schedule } = await given(harness);
    await fired(harness);
    const again = () =>
      rescheduleSchedule(commandsOf(harness), PARTITION, schedule.id, () => SOON, render, keepAs('key'));
    const { body } = await again();
    expect(await harness.store.findReceipt(PARTITION, 'key', START)).toMatchObject({ body });
    await expect(again()).rejects.toThrow(IdempotencyKeyTaken);
  });
});

test.for([
  ['small', 10, 0, 0],
  ['large', 20_000, 1, 2],
] as const)('%s labels: the command pauses between steps that take long', async (given) => {
  const [, characters, whenCreated, whenPaused] = given;
  await using harness = await openControlHarness();
  let pauses = 0;
  const pause = async () => {
    pauses += 1;
  };
  const commands = { ...commandsOf(harness), pause };
  const order: NewSchedule = { ...ORDER, metadata: [['note', 'x'.repeat(characters)]] };
  await createSchedule(commands, PARTITION, () => order, render, keepAs('key'));
  expect(pauses).toBe(whenCreated);
  const { schedule } = await stored(harness);
  await applyScheduleAction(commands, PARTITION, schedule.id, 'pause', render);
  expect(pauses).toBe(whenCreated + whenPaused);
  expect((await stored(harness)).schedule).toMatchObject({ state: 'paused', metadata: order.metadata });
});

describe('pause, resume and cancel', () => {
  test.for([
    ['pause', 'paused'],
    ['cancel', 'canceled'],
  ] as const)('%s does not interrupt a delivery that is claimed at the same time', async ([order, state]) => {
    await using harness = await openControlHarness();
    const { schedule } = await given(harness);
    const store = interleaved(harness.store, 'replaceSchedule', () => fired(harness));
    const answer = applyScheduleAction(
      { ...commandsOf(harness), store },
      PARTITION,
      schedule.id,
      order,
      render,
    );
    expect(await expectAnswered(harness, answer)).toMatchObject({
      schedule: { state },
      pending: { status: 'claimed' },
    });
  });

  test('cancel during the next occurrence cancels the next delivery, not the one in flight', async () => {
    await using harness = await openControlHarness();
    const { schedule, pending } = await given(harness, { timing: HOURLY });
    const store = interleaved(harness.store, 'replaceSchedule', () => fired(harness));
    const view = await expectAnswered(
      harness,
      applyScheduleAction({ ...commandsOf(harness), store }, PARTITION, schedule.id, 'cancel', render),
    );
    expect(view.pending?.id).not.toBe(pending?.id);
    const statuses = (
      await harness.store.listDeliveries(PARTITION, ALL_DELIVERIES, { before: null, limit: 9 })
    ).map(({ status }) => status);
    expect(statuses).toEqual(['canceled', 'claimed']);
  });

  test('only a resume makes the dispatcher rescan, since pause and cancel make nothing due', async () => {
    await using harness = await openControlHarness();
    const { schedule } = await given(harness);
    const commands = commandsOf(harness);
    const rescansAfter = async (action: ScheduleAction) => {
      await applyScheduleAction(commands, PARTITION, schedule.id, action, render);
      return commands.rescans.length;
    };
    expect([await rescansAfter('pause'), await rescansAfter('resume'), await rescansAfter('cancel')]).toEqual(
      [0, 1, 1],
    );
  });

  test('resume hints the due instant of the delivery', async () => {
    await using harness = await openControlHarness();
    const { schedule } = await given(harness);
    const commands = commandsOf(harness);
    await applyScheduleAction(commands, PARTITION, schedule.id, 'pause', render);
    harness.advance(2 * HOUR_MS);
    await applyScheduleAction(commands, PARTITION, schedule.id, 'resume', render);
    expect(commands.hinted.at(-1)).toBe(START + HOUR_MS);
  });

  test('write nothing if they change nothing', async () => {
    await using harness = await openControlHarness();
    const { schedule } = await given(harness);
    const unwritten = interleaved(
      harness.store,
      'replaceSchedule',
      () => Promise.reject(new Error('Something is written.')),
      Number.POSITIVE_INFINITY,
    );
    const commands = { ...commandsOf(harness), store: unwritten };
    await expectAnswered(harness, applyScheduleAction(commands, PARTITION, schedule.id, 'resume', render));
    await applyScheduleAction(commandsOf(harness), PARTITION, schedule.id, 'cancel', render);
    harness.advance(1_000);
    for (const order of ['pause', 'resume', 'cancel'] as const) {
      await expectAnswered(harness, applyScheduleAction(commands, PARTITION, schedule.id, order, render));
    }
  });

  test('pause leaves a schedule completed if its only delivery ends at the same time', async () => {
    await using harness = await openControlHarness();
    const { schedule } = await given(harness);
    const builders = new Builders(PARTITION, harness.ids);
    const finish = async () => {
      const view = await stored(harness);
      if (view.pending === null) throw new Error('There is a pending delivery.');
      const claim = builders.claim(view.pending, view);
      expect(await harness.store.claim([claim])).toEqual(['done']);
      expect(await harness.store.settle([builders.settle(claim, view.schedule, SUCCESS)])).toEqual(['done']);
    };
    const store = interleaved(harness.store, 'replaceSchedule', finish);
    const answer = applyScheduleAction(
      { ...commandsOf(harness), store },
      PARTITION,
      schedule.id,
      'pause',
      render,
    );
    expect(await expectAnswered(harness, answer)).toMatchObject({
      schedule: { state: 'completed' },
      pending: { status: 'succeeded' },
    });
  });

  test('pause and resume change an earlier occurrence that waits for its retry', async () => {
    await using harness = await openControlHarness();
    const { schedule, pending } = await given(harness, { timing: HOURLY });
    const builders = new Builders(PARTITION, harness.ids);
    const view = await stored(harness);
    if (view.pending === null || pending === null) throw new Error('There is a pending delivery.');
    const claim = builders.claim(view.pending, view);
    await harness.store.claim([claim]);
    await harness.store.settle([builders.settle(claim, (await stored(harness)).schedule, FAILURE)]);
    const statusAfter = async (order: 'pause' | 'resume') => {
      await applyScheduleAction(commandsOf(harness), PARTITION, schedule.id, order, render);
      return (await harness.store.findDelivery(PARTITION, pending.id))?.status;
    };
    expect(await statusAfter('pause')).toBe('paused');
    expect(await statusAfter('resume')).toBe('retry_scheduled');
  });
});
