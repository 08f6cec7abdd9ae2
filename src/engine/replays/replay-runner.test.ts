import { describe, expect, test } from 'vitest';
import { instant } from '#src/domain/instant.ts';
import { REPLAY_LEASE_MS } from '#src/domain/replay-job.ts';
import { StoreUnavailable } from '#src/ports/store.ts';
import { EngineHarness, PARTITION } from '#test/engine-harness.ts';
import {
  createReplayJob,
  deadLetters,
  expectEachReplayedOnce,
  RETENTION_MS,
  ReplayNode,
  readJob,
  SOON_MS,
} from '#test/replay-harness.ts';
import { ReplayRunner } from './replay-runner.ts';

describe('a process that is killed', () => {
  const VERBS = [
    'listOpenJobs',
    'replaceJob',
    'gather',
    'listItemEndpoints',
    'listItems',
    'replayItems',
  ] as const;
  const MOMENTS = VERBS.flatMap((verb) =>
    (['before', 'after'] as const).map((when) => [when, verb] as const),
  );

  test.for(MOMENTS)('%s %s is replaced by another, and each item is replayed once', async ([when, verb]) => {
    await using harness = await EngineHarness.open();
    const dead = await deadLetters(harness, 60);
    const job = await createReplayJob(harness);
    const first = new ReplayNode(harness, 'a');
    let times = 0;
    first[when] = (own) => {
      // Most verbs are killed at their second call, in the middle of the work.
      if (own === verb && ++times === (verb === 'listOpenJobs' || verb === 'gather' ? 1 : 2)) first.kill();
    };
    await harness.time.advance(SOON_MS);
    first.kill();
    const second = new ReplayNode(harness, 'b');
    await harness.time.advance(REPLAY_LEASE_MS + 10_000);
    expect(await readJob(harness, job)).toMatchObject({ state: 'done', gathered: 60, replayed: 60 });
    await expectEachReplayedOnce(harness, dead);
    await second.runner.stop();
  });

  test('is replaced after the end of its lease; one that stops is replaced at once', async () => {
    await using harness = await EngineHarness.open();
    await deadLetters(harness, 4, {
      profile: await harness.profile({ retryBudget: { rate: 0.001, burst: 1 } }),
    });
    const job = await createReplayJob(harness);
    const first = new ReplayNode(harness, 'a');
    await harness.time.advance(SOON_MS);
    await first.runner.stop();
    expect(await readJob(harness, job)).toMatchObject({ state: 'running', runner: null });
    const second = new ReplayNode(harness, 'b');
    await harness.time.advance(1_100);
    expect(await readJob(harness, job)).toMatchObject({ runner: 'b' });
    second.kill();
    const third = new ReplayNode(harness, 'c');
    await harness.time.advance(REPLAY_LEASE_MS - 2_000);
    expect(await readJob(harness, job)).toMatchObject({ runner: 'b' });
    await harness.time.advance(3_100);
    expect(await readJob(harness, job)).toMatchObject({ runner: 'c' });
    await third.runner.stop();
    expect(harness.time.pending).toBe(0);
  });

  test('finds its job taken when it was only paused, and leaves it alone', async () => {
    await using harness = await EngineHarness.open();
    const dead = await deadLetters(harness, 150);
    const job = await createReplayJob(harness);
    const first = new ReplayNode(harness, 'a');
    const gate = Promise.withResolvers<void>();
    let isStill = false;
    first.before = (verb) => {
      isStill ||= verb === 'replayItems';
      return isStill ? gate.promise : undefined;
    };
    await harness.time.advance(SOON_MS);
    expect(isStill).toBe(true);
    const second = new ReplayNode(harness, 'b');
    await harness.time.advance(REPLAY_LEASE_MS + 1_000);
    expect(await readJob(harness, job)).toMatchObject({ runner: 'b' });
    isStill = false;
    first.before = () => undefined;
    gate.resolve();
    await harness.time.advance(10_000);
    expect(await readJob(harness, job)).toMatchObject({ state: 'done', replayed: 150 });
    await expectEachReplayedOnce(harness, dead);
    expect(first.hinted).toEqual([]);
    await first.runner.stop();
    await second.runner.stop();
  });
});

describe('two nodes', () => {
  test('replay each item once, and one of them works on all jobs of a partition', async () => {
    await using harness = await EngineHarness.open();
    const dead = await deadLetters(harness, 90);
    const ids = dead.slice(0, 3).map(({ scheduleId }) => scheduleId);
    const nodes = [new ReplayNode(harness, 'a'), new ReplayNode(harness, 'b')];
    await harness.time.advance(100);
    for (const scheduleId of ids) await createReplayJob(harness, { scheduleId });
    await harness.time.advance(3_000);
    await expectEachReplayedOnce(harness, dead.slice(0, 3));
    const slow = await harness.profile({ retryBudget: { rate: 0.001, burst: 1 } });
    await deadLetters(harness, 2, { profile: slow });
    const waiting = await createReplayJob(harness, { createdAfter: instant(harness.now - 1_500) });
    await harness.time.advance(1_500);
    const { runner } = await readJob(harness, waiting);
    const late = await deadLetters(harness, 2, { profile: slow });
    const other = await createReplayJob(harness, { scheduleId: late[0]?.scheduleId ?? null });
    await harness.time.advance(20_000);
    expect(await readJob(harness, waiting)).toMatchObject({ state: 'running', runner });
    expect(await readJob(harness, other)).toMatchObject({ state: 'running', runner });
    for (const { runner: one } of nodes) await one.stop();
  });
});

describe('a store that is away', () => {
  test('is waited for, and logged once', async () => {
    await using harness = await EngineHarness.open();
    const dead = await deadLetters(harness, 120);
    const job = await createReplayJob(harness);
    const node = new ReplayNode(harness, 'a');
    await harness.time.advance(SOON_MS);
    node.before = () => {
      throw new StoreUnavailable('The store is away.');
    };
    await harness.time.advance(60_000);
    expect(harness.log.lines).toMatchObject([
      { level: 'warn', message: 'bulk replays could not continue: they are tried again' },
    ]);
    node.before = () => undefined;
    await harness.time.advance(20_000);
    expect(await readJob(harness, job)).toMatchObject({ state: 'done', replayed: 120 });
    await expectEachReplayedOnce(harness, dead);
    node.before = () => {
      throw new StoreUnavailable('The store is away.');
    };
    await harness.time.advance(5_000);
    expect(harness.log.lines).toHaveLength(2);
    await node.runner.stop();
  });

  test('and loses its answers does not make an item replay twice', async () => {
    await using harness = await EngineHarness.open();
    const dead = await deadLetters(harness, 80);
    const job = await createReplayJob(harness);
    const node = new ReplayNode(harness, 'a');
    let writes = 0;
    node.after = (verb) => {
      const isWrite = verb === 'replaceJob' || verb === 'gather' || verb === 'replayItems';
      if (isWrite && ++writes % 2 === 1) throw new StoreUnavailable('The answer got lost.');
    };
    await harness.time.advance(60_000);
    expect(await readJob(harness, job)).toMatchObject({ state: 'done', replayed: 80 });
    await expectEachReplayedOnce(harness, dead);
    await node.runner.stop();
  });

  test('during a stop leaves the job until the end of its lease', async () => {
    await using harness = await EngineHarness.open();
    await deadLetters(harness, 150);
    const job = await createReplayJob(harness);
    const node = new ReplayNode(harness, 'a');
    await harness.time.advance(SOON_MS);
    node.before = () => {
      throw new StoreUnavailable('The store is away.');
    };
    await node.runner.stop();
    expect(await readJob(harness, job)).toMatchObject({ state: 'running', runner: 'a' });
  });
});

test('ended jobs are kept as long as history', async () => {
  await using harness = await EngineHarness.open();
  const job = await createReplayJob(harness);
  const node = new ReplayNode(harness, 'a');
  await harness.time.advance(SOON_MS);
  harness.time.setClock(RETENTION_MS - 3_600_000);
  await createReplayJob(harness);
  node.runner.wake();
  await harness.time.advance(SOON_MS);
  expect(await readJob(harness, job)).toMatchObject({ state: 'done' });
  await harness.time.advance(3_600_000);
  expect(await harness.disk.jobs.findJob(PARTITION, job.id)).toBeNull();
  await node.runner.stop();
});

test('a runner that was never started stops', async () => {
  await using harness = await EngineHarness.open();
  const { clock, ids, log, time, disk } = harness;
  const hints = { due: () => undefined };
  const runner = new ReplayRunner(
    { clock, ids, log, node: 'a', timers: time, store: disk, hints },
    { retentionMs: 0 },
  );
  await runner.stop();
  expect(time.pending).toBe(0);
});
