import { describe, expect, test } from 'vitest';
import { endpointKeyOf } from '#src/domain/endpoint-key.ts';
import { instant, MS_PER_DAY } from '#src/domain/instant.ts';
import { NOTIFIED_OUTCOMES } from '#src/domain/notify.ts';
import { DEFAULT_RETRY_POLICY } from '#src/domain/retry.ts';
import { Engine } from '#src/engine/engine.ts';
import { BROKEN, EngineHarness, PARTITION } from '#test/engine-harness.ts';
import {
  createReplayJob,
  deadLetters,
  expectEachReplayedOnce,
  listReplays,
  ReplayNode,
  readJob,
  SOON_MS,
  stopJob,
} from '#test/replay-harness.ts';

const DEAD_LETTERS = {
  status: 'dead_letter',
  scheduleId: null,
  createdAfter: null,
  createdBefore: null,
} as const;

describe('a bulk replay', () => {
  test('replays the deliveries of its filter, due now and with a hint for each, and is done', async () => {
    await using harness = await EngineHarness.open();
    const dead = await deadLetters(harness, 3);
    await harness.schedule();
    const job = await createReplayJob(harness);
    await deadLetters(harness, 1);
    const node = new ReplayNode(harness, 'a');
    await harness.time.advance(SOON_MS);
    expect(await readJob(harness, job)).toMatchObject({
      state: 'done',
      gathered: 3,
      replayed: 3,
      skipped: 0,
      runner: null,
      leaseUntil: null,
    });
    await expectEachReplayedOnce(harness, dead);
    const replays = await listReplays(harness);
    for (const replay of replays) {
      expect(replay).toMatchObject({ status: 'scheduled', attemptCount: 0, dueAt: replay.createdAt });
    }
    expect(node.hinted.map(({ id }) => id).toSorted()).toEqual(replays.map(({ id }) => id).toSorted());
    await node.runner.stop();
  });

  test('that finds no delivery is done', async () => {
    await using harness = await EngineHarness.open();
    const job = await createReplayJob(harness);
    const node = new ReplayNode(harness, 'a');
    await harness.time.advance(SOON_MS);
    expect(await readJob(harness, job)).toMatchObject({ state: 'done', gathered: 0 });
    await node.runner.stop();
  });

  test('begins within a second, and at once after a wake', async () => {
    await using harness = await EngineHarness.open();
    const dead = await deadLetters(harness, 2);
    const node = new ReplayNode(harness, 'a');
    await harness.time.advance(100);
    const first = await createReplayJob(harness, { scheduleId: dead[0]?.scheduleId ?? null });
    node.runner.wake();
    await harness.time.advance(100);
    expect(await readJob(harness, first)).toMatchObject({ state: 'done' });
    const second = await createReplayJob(harness, { scheduleId: dead[1]?.scheduleId ?? null });
    await harness.time.advance(1_100);
    expect(await readJob(harness, second)).toMatchObject({ state: 'done' });
    await expectEachReplayedOnce(harness, dead);
    await node.runner.stop();
  });

  test('gathers page by page, at most 20 pages a second', async () => {
    await using harness = await EngineHarness.open();
    await deadLetters(harness, 260);
    const job = await createReplayJob(harness);
    const node = new ReplayNode(harness, 'a');
    await harness.time.advance(49);
    expect(await readJob(harness, job)).toMatchObject({ state: 'gathering', gathered: 250 });
    await harness.time.advance(50);
    expect(await readJob(harness, job)).toMatchObject({ state: 'running', gathered: 260 });
    await node.runner.stop();
  });

  test('skips notifications of deliveries that retention has removed', async () => {
    await using harness = await EngineHarness.open();
    const retryPolicy = { ...DEFAULT_RETRY_POLICY, maxAttempts: 1 };
    const { id } = await harness.profile({ retryPolicy });
    await harness.schedule({ notify: { endpointId: id, on: NOTIFIED_OUTCOMES }, retryPolicy });
    // The notification ends after the delivery.
    harness.egress.respond = () => (harness.egress.sent.length === 1 ? BROKEN : null);
    const engine = new Engine(harness, { retentionMs: 0 });
    await engine.start();
    await harness.time.advance(40_000);
    await engine.stop(0);
    const dead = await harness.disk.listDeliveries(PARTITION, DEAD_LETTERS, { before: null, limit: 10 });
    expect(dead.map(({ notificationOf }) => notificationOf !== null)).toEqual([true, false]);
    await harness.disk.prune('deliveries', dead[0]?.finalizedAt ?? instant(0), 10);
    const job = await createReplayJob(harness);
    const node = new ReplayNode(harness, 'a');
    await harness.time.advance(SOON_MS);
    expect(await readJob(harness, job)).toMatchObject({
      state: 'done',
      gathered: 1,
      replayed: 0,
      skipped: 1,
    });
    await node.runner.stop();
  });

  test('skips deliveries that retention has removed since', async () => {
    await using harness = await EngineHarness.open();
    const dead = await deadLetters(harness, 3);
    const job = await createReplayJob(harness);
    const node = new ReplayNode(harness, 'a');
    node.before = async (verb) => {
      if (verb !== 'listItems') return;
      await harness.disk.prune('deliveries', instant(harness.now + MS_PER_DAY), 1);
      await harness.disk.prune('schedules', instant(harness.now + MS_PER_DAY), 10);
    };
    await harness.time.advance(SOON_MS);
    expect(await readJob(harness, job)).toMatchObject({ state: 'done', replayed: 2, skipped: 1 });
    await expectEachReplayedOnce(harness, dead.slice(1));
    await node.runner.stop();
  });

  test('continues when retention removes a delivery that was just read', async () => {
    await using harness = await EngineHarness.open();
    const dead = await deadLetters(harness, 3);
    const job = await createReplayJob(harness);
    const node = new ReplayNode(harness, 'a');
    let isFirst = true;
    node.before = async (verb) => {
      if (verb !== 'replayItems' || !isFirst) return;
      isFirst = false;
      await harness.disk.prune('deliveries', instant(harness.now + MS_PER_DAY), 1);
      await harness.disk.prune('schedules', instant(harness.now + MS_PER_DAY), 10);
    };
    await harness.time.advance(SOON_MS);
    expect(await readJob(harness, job)).toMatchObject({ state: 'done', replayed: 2, skipped: 1 });
    await expectEachReplayedOnce(harness, dead.slice(1));
    await node.runner.stop();
  });

  test('whose items were removed ends, also when it counts more of them', async () => {
    await using harness = await EngineHarness.open();
    const job = await createReplayJob(harness);
    const lost = { ...job, state: 'running', gathered: 5, revision: job.revision + 1 } as const;
    expect(await harness.disk.jobs.replaceJob(lost)).toBe('done');
    const node = new ReplayNode(harness, 'a');
    await harness.time.advance(SOON_MS);
    expect(await readJob(harness, job)).toMatchObject({ state: 'done', replayed: 0, skipped: 5 });
    await node.runner.stop();
  });
});

describe('a job that is stopped', () => {
  test('replays nothing more, and its items are removed', async () => {
    await using harness = await EngineHarness.open();
    const [original] = await deadLetters(harness, 150);
    const job = await createReplayJob(harness);
    const node = new ReplayNode(harness, 'a');
    await harness.time.advance(SOON_MS);
    await stopJob(harness, job);
    const made = (await listReplays(harness)).length;
    await harness.time.advance(5_000);
    expect(await listReplays(harness)).toHaveLength(made);
    expect(await readJob(harness, job)).toMatchObject({ state: 'stopped', replayed: made, gathered: 150 });
    const endpoint = endpointKeyOf(original?.target ?? { url: '', endpointId: null });
    expect(await harness.disk.jobs.listItems(PARTITION, job.id, endpoint, 10)).toEqual([]);
    await node.runner.stop();
  });

  test.for(['gather', 'replayItems', 'listItems', 'listItemEndpoints'] as const)(
    'right before %s replays nothing',
    async (verb) => {
      await using harness = await EngineHarness.open();
      await deadLetters(harness, 3);
      const job = await createReplayJob(harness);
      const node = new ReplayNode(harness, 'a');
      let isFirst = true;
      node.before = async (own) => {
        if (own !== verb || !isFirst) return;
        isFirst = false;
        await stopJob(harness, job);
      };
      await harness.time.advance(3_000);
      expect(await readJob(harness, job)).toMatchObject({ state: 'stopped', replayed: 0 });
      expect(await listReplays(harness)).toEqual([]);
      expect(node.hinted).toEqual([]);
      await node.runner.stop();
    },
  );
});
