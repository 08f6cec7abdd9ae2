import { describe, expect, test } from 'vitest';
import type { Delivery } from '#src/domain/delivery.ts';
import { instant } from '#src/domain/instant.ts';
import { EngineHarness } from '#test/engine-harness.ts';
import {
  countReplaysTo,
  createReplayJob,
  deadLetters,
  expectEachReplayedOnce,
  listReplays,
  ReplayNode,
  readJob,
  SOON_MS,
} from '#test/replay-harness.ts';

describe('the retry budget', () => {
  test('limits each endpoint: first its burst, then its rate, and no endpoint delays another', async () => {
    await using harness = await EngineHarness.open();
    const [busy, quiet] = ['https://busy.example/a', 'https://quiet.example/b'];
    await deadLetters(harness, 5, { url: quiet });
    await deadLetters(harness, 250, { url: busy });
    const job = await createReplayJob(harness);
    const node = new ReplayNode(harness, 'a');
    await harness.time.advance(SOON_MS);
    const first = await countReplaysTo(harness, busy);
    expect(first).toBeGreaterThanOrEqual(100);
    expect(first).toBeLessThanOrEqual(105);
    expect(await countReplaysTo(harness, quiet)).toBe(5);
    for (let second = 1; second <= 5; second++) {
      await harness.time.advance(1_000);
      expect(Math.abs((await countReplaysTo(harness, busy)) - first - 10 * second)).toBeLessThanOrEqual(1);
    }
    await harness.time.advance(10_000);
    expect(await readJob(harness, job)).toMatchObject({ state: 'done', replayed: 255 });
    await node.runner.stop();
  });

  test('is shared by all jobs of a node', async () => {
    await using harness = await EngineHarness.open();
    await deadLetters(harness, 80);
    const early = await createReplayJob(harness);
    await deadLetters(harness, 80);
    const late = await createReplayJob(harness, { createdAfter: instant(early.createdAt - 1) });
    const node = new ReplayNode(harness, 'a');
    await harness.time.advance(1_500);
    const made = (await listReplays(harness)).length;
    expect(made).toBeGreaterThanOrEqual(110);
    expect(made).toBeLessThanOrEqual(116);
    for (const job of [early, late]) expect((await readJob(harness, job)).replayed).toBeGreaterThan(30);
    await node.runner.stop();
  });

  test('is that of the current profile', async () => {
    await using harness = await EngineHarness.open();
    const profile = await harness.profile({ retryBudget: { rate: 0.001, burst: 2 } });
    await deadLetters(harness, 60, { profile });
    const job = await createReplayJob(harness);
    const node = new ReplayNode(harness, 'a');
    await harness.time.advance(3_000);
    expect(await readJob(harness, job)).toMatchObject({ state: 'running', replayed: 2 });
    const faster = {
      ...profile,
      retryBudget: { rate: 50, burst: 20 },
      version: 2,
      revision: profile.revision + 1,
    };
    await harness.disk.replaceProfile({ profile: faster, headers: null, receipt: null });
    await harness.time.advance(7_000);
    expect(await readJob(harness, job)).toMatchObject({ state: 'done', replayed: 60 });
    await node.runner.stop();
  });

  test('of rate 0 allows its burst, and the other items are skipped', async () => {
    await using harness = await EngineHarness.open();
    const profile = await harness.profile({ retryBudget: { rate: 0, burst: 3 } });
    await deadLetters(harness, 120, { profile });
    const job = await createReplayJob(harness);
    const node = new ReplayNode(harness, 'a');
    await harness.time.advance(SOON_MS);
    expect(await readJob(harness, job)).toMatchObject({ state: 'done', replayed: 3, skipped: 117 });
    expect(await listReplays(harness)).toHaveLength(3);
    await node.runner.stop();
  });

  test('of burst 0 allows its rate', async () => {
    await using harness = await EngineHarness.open();
    const profile = await harness.profile({ retryBudget: { rate: 2, burst: 0 } });
    await deadLetters(harness, 5, { profile });
    const job = await createReplayJob(harness);
    const node = new ReplayNode(harness, 'a');
    await harness.time.advance(1_100);
    expect((await readJob(harness, job)).replayed).toBe(3);
    await harness.time.advance(1_000);
    expect(await readJob(harness, job)).toMatchObject({ state: 'done', replayed: 5 });
    await node.runner.stop();
  });

  test('limits each of many endpoints, more than one page of them', async () => {
    await using harness = await EngineHarness.open();
    const dead: Delivery[] = [];
    for (let host = 0; host < 120; host++) {
      dead.push(...(await deadLetters(harness, 1, { url: `https://h${host}.example/` })));
    }
    const job = await createReplayJob(harness);
    const node = new ReplayNode(harness, 'a');
    await harness.time.advance(3_000);
    expect(await readJob(harness, job)).toMatchObject({ state: 'done', replayed: 120 });
    await expectEachReplayedOnce(harness, dead);
    await node.runner.stop();
  });
});
