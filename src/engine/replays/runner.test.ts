import { describe, expect, test } from 'vitest';
import type { Delivery } from '#src/domain/delivery.ts';
import type { DueDelivery } from '#src/domain/due-delivery.ts';
import { endpointKeyOf } from '#src/domain/endpoint-key.ts';
import type { RetryBudget } from '#src/domain/endpoint-profile.ts';
import { instant, MS_PER_DAY } from '#src/domain/instant.ts';
import type { ReplayJob } from '#src/domain/replay-job.ts';
import * as life from '#src/domain/replay-job.ts';
import type { ReplayJobStore } from '#src/ports/replay-job-store.ts';
import { StoreUnavailable } from '#src/ports/store.ts';
import { REDIRECT } from '#src/store/contract/builders.ts';
import { ALL_DELIVERIES } from '#src/store/contract/everything.ts';
import { EngineHarness, type Order, PARTITION } from '#test/engine-harness.ts';
import type { ReplayDependencies } from './dependencies.ts';
import { ReplayRunner } from './runner.ts';

const KEPT_MS = 90 * MS_PER_DAY;
/** Longer than it takes to look for jobs, to gather a few and to replay what is allowed at once. */
const SOON_MS = 500;

type Meanwhile = (verb: keyof ReplayJobStore) => unknown;

/** A process that works on bulk replays, in the harness of the test. */
class Node {
  readonly told: DueDelivery[] = [];
  readonly runner: ReplayRunner;
  /** Called before a verb is carried out, and after. */
  before: Meanwhile = () => undefined;
  after: Meanwhile = () => undefined;
  #isDead = false;

  constructor(harness: EngineHarness, node: string, given: Partial<ReplayDependencies> = {}) {
    const { store } = harness;
    const { clock, ids, log, time } = harness;
    this.runner = new ReplayRunner(
      {
        clock,
        ids,
        log,
        node,
        timers: {
          elapsed: () => time.elapsed(),
          after: (ms, act) => time.after(ms, () => (this.#isDead ? undefined : act())),
        },
        store: {
          listDeliveries: (...args) => store.listDeliveries(...args),
          findDelivery: (...args) => store.findDelivery(...args),
          findProfile: (...args) => store.findProfile(...args),
          jobs: this.#watched(harness.disk.jobs),
        },
        hints: { due: (due) => void (due !== null && this.told.push(due)) },
        ...given,
      },
      { retentionMs: KEPT_MS },
    );
    this.runner.start();
  }

  #watched(jobs: ReplayJobStore): ReplayJobStore {
    return new Proxy(jobs, {
      get: (target, name) => {
        const verb = name as keyof ReplayJobStore;
        const member = Reflect.get(target, verb, target) as (...given: readonly unknown[]) => unknown;
        return async (...given: readonly unknown[]) => {
          if (this.#isDead) return new Promise(() => {});
          await this.before(verb);
          if (this.#isDead) return new Promise(() => {});
          const answer = await Reflect.apply(member, target, given);
          await this.after(verb);
          return this.#isDead ? new Promise(() => {}) : answer;
        };
      },
    });
  }

  /** Without a stop, as a process that is killed: what it waits for never comes. */
  die(): void {
    this.#isDead = true;
  }
}

async function deadLetters(harness: EngineHarness, count: number, order: Order = {}): Promise<Delivery[]> {
  const dead: Delivery[] = [];
  for (let each = 0; each < count; each++) {
    const view = await harness.schedule({ inMs: 1_000, ...order });
    const claimed = harness.build.claim(view.pending, view);
    await harness.disk.claim([claimed]);
    await harness.disk.settle([harness.build.settle(claimed, view.schedule, REDIRECT)]);
    dead.push(await harness.delivery(view.pending.id));
  }
  await harness.time.advance(1);
  return dead;
}

async function begin(harness: EngineHarness, filter: Partial<life.ReplayFilter> = {}): Promise<ReplayJob> {
  const job = life.createJob(
    {
      partition: PARTITION,
      id: harness.ids.mint('job', harness.now),
      filter: {
        status: 'dead_letter',
        scheduleId: null,
        createdAfter: null,
        createdBefore: harness.now,
        ...filter,
      },
      expected: 1,
      createdBy: 'ada',
    },
    harness.now,
  );
  const open = await harness.disk.jobs.listOpenJobs(PARTITION, 100);
  expect(
    await harness.disk.jobs.addJob(
      job,
      open.map(({ id }) => id),
    ),
  ).toBe('done');
  return job;
}

async function stateOf(harness: EngineHarness, { id }: ReplayJob): Promise<ReplayJob> {
  const job = await harness.disk.jobs.findJob(PARTITION, id);
  if (job === null) throw new Error('There is no such job.');
  return job;
}

async function replaysIn(harness: EngineHarness): Promise<readonly Delivery[]> {
  const page = { before: null, limit: 10_000 };
  const all = await harness.disk.listDeliveries(PARTITION, ALL_DELIVERIES, page);
  return all.filter(({ replayOf }) => replayOf !== null);
}

async function countOf(harness: EngineHarness, url: string): Promise<number> {
  return (await replaysIn(harness)).filter(({ target }) => target.url === url).length;
}

/** Each of these once, and nothing else. */
async function expectEachOnce(harness: EngineHarness, dead: readonly Delivery[]): Promise<void> {
  const originals = (await replaysIn(harness)).map(({ replayOf }) => replayOf ?? '');
  expect(originals.toSorted()).toEqual(dead.map(({ id }) => id as string).toSorted());
}

async function stop(harness: EngineHarness, job: ReplayJob): Promise<void> {
  const stopped = life.stop(await stateOf(harness, job), harness.now);
  if (stopped === null) throw new Error('It has ended.');
  expect(await harness.disk.jobs.replaceJob(stopped)).toBe('done');
}

function profileWith(harness: EngineHarness, retryBudget: RetryBudget) {
  return harness.profile({ retryBudget });
}

describe('a bulk replay', () => {
  test('replays what its filter names, due now, and tells of each; then it is done', async () => {
    await using harness = await EngineHarness.open();
    const dead = await deadLetters(harness, 3);
    await harness.schedule();
    const job = await begin(harness);
    await deadLetters(harness, 1);
    const node = new Node(harness, 'a');
    await harness.time.advance(SOON_MS);
    expect(await stateOf(harness, job)).toMatchObject({
      state: 'done',
      gathered: 3,
      replayed: 3,
      skipped: 0,
      runner: null,
      leaseUntil: null,
    });
    await expectEachOnce(harness, dead);
    const replays = await replaysIn(harness);
    for (const replay of replays) {
      expect(replay).toMatchObject({ status: 'scheduled', attemptCount: 0, dueAt: replay.createdAt });
    }
    expect(node.told.map(({ id }) => id).toSorted()).toEqual(replays.map(({ id }) => id).toSorted());
    await node.runner.stop();
  });

  test('that finds nothing is done', async () => {
    await using harness = await EngineHarness.open();
    const job = await begin(harness);
    const node = new Node(harness, 'a');
    await harness.time.advance(SOON_MS);
    expect(await stateOf(harness, job)).toMatchObject({ state: 'done', gathered: 0 });
    await node.runner.stop();
  });

  test('is found within a second, and at once by whoever is told', async () => {
    await using harness = await EngineHarness.open();
    const dead = await deadLetters(harness, 2);
    const node = new Node(harness, 'a');
    await harness.time.advance(100);
    const first = await begin(harness, { scheduleId: dead[0]?.scheduleId ?? null });
    node.runner.wake();
    await harness.time.advance(100);
    expect(await stateOf(harness, first)).toMatchObject({ state: 'done' });
    const second = await begin(harness, { scheduleId: dead[1]?.scheduleId ?? null });
    await harness.time.advance(1_100);
    expect(await stateOf(harness, second)).toMatchObject({ state: 'done' });
    await expectEachOnce(harness, dead);
    await node.runner.stop();
  });

  test('gathers page by page, 20 pages a second at most', async () => {
    await using harness = await EngineHarness.open();
    await deadLetters(harness, 260);
    const job = await begin(harness);
    const node = new Node(harness, 'a');
    await harness.time.advance(49);
    expect(await stateOf(harness, job)).toMatchObject({ state: 'gathering', gathered: 250 });
    await harness.time.advance(50);
    expect(await stateOf(harness, job)).toMatchObject({ state: 'running', gathered: 260 });
    await node.runner.stop();
  });

  test('passes over what retention has taken since', async () => {
    await using harness = await EngineHarness.open();
    const dead = await deadLetters(harness, 3);
    const job = await begin(harness);
    const node = new Node(harness, 'a');
    node.before = async (verb) => {
      if (verb !== 'listItems') return;
      await harness.disk.prune('deliveries', instant(harness.now + MS_PER_DAY), 1);
      await harness.disk.prune('schedules', instant(harness.now + MS_PER_DAY), 10);
    };
    await harness.time.advance(SOON_MS);
    expect(await stateOf(harness, job)).toMatchObject({ state: 'done', replayed: 2, skipped: 1 });
    await expectEachOnce(harness, dead.slice(1));
    await node.runner.stop();
  });

  test('does not mind that retention takes what it has just read', async () => {
    await using harness = await EngineHarness.open();
    const dead = await deadLetters(harness, 3);
    const job = await begin(harness);
    const node = new Node(harness, 'a');
    let isFirst = true;
    node.before = async (verb) => {
      if (verb !== 'replayItems' || !isFirst) return;
      isFirst = false;
      await harness.disk.prune('deliveries', instant(harness.now + MS_PER_DAY), 1);
      await harness.disk.prune('schedules', instant(harness.now + MS_PER_DAY), 10);
    };
    await harness.time.advance(SOON_MS);
    expect(await stateOf(harness, job)).toMatchObject({ state: 'done', replayed: 2, skipped: 1 });
    await expectEachOnce(harness, dead.slice(1));
    await node.runner.stop();
  });

  test('whose items are gone, whatever its numbers say, ends', async () => {
    await using harness = await EngineHarness.open();
    const job = await begin(harness);
    const lost = { ...job, state: 'running', gathered: 5, revision: job.revision + 1 } as const;
    expect(await harness.disk.jobs.replaceJob(lost)).toBe('done');
    const node = new Node(harness, 'a');
    await harness.time.advance(SOON_MS);
    expect(await stateOf(harness, job)).toMatchObject({ state: 'done', replayed: 0, skipped: 5 });
    await node.runner.stop();
  });
});

describe('the pace', () => {
  test('is that of each endpoint: the burst at once, then the rate; none holds up another', async () => {
    await using harness = await EngineHarness.open();
    const [busy, quiet] = ['https://busy.example/a', 'https://quiet.example/b'];
    await deadLetters(harness, 5, { url: quiet });
    await deadLetters(harness, 250, { url: busy });
    const job = await begin(harness);
    const node = new Node(harness, 'a');
    await harness.time.advance(SOON_MS);
    const first = await countOf(harness, busy);
    expect(first).toBeGreaterThanOrEqual(100);
    expect(first).toBeLessThanOrEqual(105);
    expect(await countOf(harness, quiet)).toBe(5);
    for (let second = 1; second <= 5; second++) {
      await harness.time.advance(1_000);
      expect(Math.abs((await countOf(harness, busy)) - first - 10 * second)).toBeLessThanOrEqual(1);
    }
    await harness.time.advance(10_000);
    expect(await stateOf(harness, job)).toMatchObject({ state: 'done', replayed: 255 });
    await node.runner.stop();
  });

  test('is shared by all jobs of a node', async () => {
    await using harness = await EngineHarness.open();
    await deadLetters(harness, 80);
    const early = await begin(harness);
    await deadLetters(harness, 80);
    const late = await begin(harness, { createdAfter: instant(early.createdAt - 1) });
    const node = new Node(harness, 'a');
    await harness.time.advance(1_500);
    const made = (await replaysIn(harness)).length;
    expect(made).toBeGreaterThanOrEqual(110);
    expect(made).toBeLessThanOrEqual(116);
    for (const job of [early, late]) expect((await stateOf(harness, job)).replayed).toBeGreaterThan(30);
    await node.runner.stop();
  });

  test('is that of the profile as it is now', async () => {
    await using harness = await EngineHarness.open();
    const profile = await profileWith(harness, { rate: 0.001, burst: 2 });
    await deadLetters(harness, 60, { profile });
    const job = await begin(harness);
    const node = new Node(harness, 'a');
    await harness.time.advance(3_000);
    expect(await stateOf(harness, job)).toMatchObject({ state: 'running', replayed: 2 });
    const faster = {
      ...profile,
      retryBudget: { rate: 50, burst: 20 },
      version: 2,
      revision: profile.revision + 1,
    };
    await harness.disk.replaceProfile({ profile: faster, headers: null, receipt: null });
    await harness.time.advance(7_000);
    expect(await stateOf(harness, job)).toMatchObject({ state: 'done', replayed: 60 });
    await node.runner.stop();
  });

  test('of rate 0: the burst is used, and the rest is passed over, since no token can ever come', async () => {
    await using harness = await EngineHarness.open();
    const profile = await profileWith(harness, { rate: 0, burst: 3 });
    await deadLetters(harness, 120, { profile });
    const job = await begin(harness);
    const node = new Node(harness, 'a');
    await harness.time.advance(SOON_MS);
    expect(await stateOf(harness, job)).toMatchObject({ state: 'done', replayed: 3, skipped: 117 });
    expect(await replaysIn(harness)).toHaveLength(3);
    await node.runner.stop();
  });

  test('of burst 0 is the rate', async () => {
    await using harness = await EngineHarness.open();
    const profile = await profileWith(harness, { rate: 2, burst: 0 });
    await deadLetters(harness, 5, { profile });
    const job = await begin(harness);
    const node = new Node(harness, 'a');
    await harness.time.advance(1_100);
    expect((await stateOf(harness, job)).replayed).toBe(3);
    await harness.time.advance(1_000);
    expect(await stateOf(harness, job)).toMatchObject({ state: 'done', replayed: 5 });
    await node.runner.stop();
  });

  test('of many endpoints, more than are looked at together, is that of each', async () => {
    await using harness = await EngineHarness.open();
    const dead: Delivery[] = [];
    for (let host = 0; host < 120; host++) {
      dead.push(...(await deadLetters(harness, 1, { url: `https://h${host}.example/` })));
    }
    const job = await begin(harness);
    const node = new Node(harness, 'a');
    await harness.time.advance(3_000);
    expect(await stateOf(harness, job)).toMatchObject({ state: 'done', replayed: 120 });
    await expectEachOnce(harness, dead);
    await node.runner.stop();
  });
});

describe('stopped', () => {
  test('in the middle, nothing more is replayed, and its items are removed', async () => {
    await using harness = await EngineHarness.open();
    const [original] = await deadLetters(harness, 150);
    const job = await begin(harness);
    const node = new Node(harness, 'a');
    await harness.time.advance(SOON_MS);
    await stop(harness, job);
    const made = (await replaysIn(harness)).length;
    await harness.time.advance(5_000);
    expect(await replaysIn(harness)).toHaveLength(made);
    expect(await stateOf(harness, job)).toMatchObject({ state: 'stopped', replayed: made, gathered: 150 });
    const endpoint = endpointKeyOf(original?.target ?? { url: '', endpointId: null });
    expect(await harness.disk.jobs.listItems(PARTITION, job.id, endpoint, 10)).toEqual([]);
    await node.runner.stop();
  });

  test.for(['gather', 'replayItems', 'listItems', 'listItemEndpoints'] as const)(
    'right before it would %s, it does not',
    async (verb) => {
      await using harness = await EngineHarness.open();
      await deadLetters(harness, 3);
      const job = await begin(harness);
      const node = new Node(harness, 'a');
      let isFirst = true;
      node.before = async (own) => {
        if (own !== verb || !isFirst) return;
        isFirst = false;
        await stop(harness, job);
      };
      await harness.time.advance(3_000);
      expect(await stateOf(harness, job)).toMatchObject({ state: 'stopped', replayed: 0 });
      expect(await replaysIn(harness)).toEqual([]);
      expect(node.told).toEqual([]);
      await node.runner.stop();
    },
  );
});

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

  test.for(MOMENTS)('%s %s is followed by another, and each is replayed once', async ([when, verb]) => {
    await using harness = await EngineHarness.open();
    const dead = await deadLetters(harness, 60);
    const job = await begin(harness);
    const first = new Node(harness, 'a');
    let times = 0;
    first[when] = (own) => {
      // Not at the first one only: in the middle as well.
      if (own === verb && ++times === (verb === 'listOpenJobs' || verb === 'gather' ? 1 : 2)) first.die();
    };
    await harness.time.advance(SOON_MS);
    first.die();
    const second = new Node(harness, 'b');
    await harness.time.advance(life.REPLAY_LEASE_MS + 10_000);
    expect(await stateOf(harness, job)).toMatchObject({ state: 'done', gathered: 60, replayed: 60 });
    await expectEachOnce(harness, dead);
    await second.runner.stop();
  });

  test('is followed only when its lease has run out; one that stops, at once', async () => {
    await using harness = await EngineHarness.open();
    await deadLetters(harness, 4, { profile: await profileWith(harness, { rate: 0.001, burst: 1 }) });
    const job = await begin(harness);
    const first = new Node(harness, 'a');
    await harness.time.advance(SOON_MS);
    await first.runner.stop();
    expect(await stateOf(harness, job)).toMatchObject({ state: 'running', runner: null });
    const second = new Node(harness, 'b');
    await harness.time.advance(1_100);
    expect(await stateOf(harness, job)).toMatchObject({ runner: 'b' });
    second.die();
    const third = new Node(harness, 'c');
    await harness.time.advance(life.REPLAY_LEASE_MS - 2_000);
    expect(await stateOf(harness, job)).toMatchObject({ runner: 'b' });
    await harness.time.advance(3_100);
    expect(await stateOf(harness, job)).toMatchObject({ runner: 'c' });
    await third.runner.stop();
    expect(harness.time.pending).toBe(0);
  });

  test('but only stood still finds its job taken, and leaves it alone', async () => {
    await using harness = await EngineHarness.open();
    const dead = await deadLetters(harness, 150);
    const job = await begin(harness);
    const first = new Node(harness, 'a');
    const gate = Promise.withResolvers<void>();
    let isStill = false;
    first.before = (verb) => {
      isStill ||= verb === 'replayItems';
      return isStill ? gate.promise : undefined;
    };
    await harness.time.advance(SOON_MS);
    expect(isStill).toBe(true);
    const second = new Node(harness, 'b');
    await harness.time.advance(life.REPLAY_LEASE_MS + 1_000);
    expect(await stateOf(harness, job)).toMatchObject({ runner: 'b' });
    isStill = false;
    first.before = () => undefined;
    gate.resolve();
    await harness.time.advance(10_000);
    expect(await stateOf(harness, job)).toMatchObject({ state: 'done', replayed: 150 });
    await expectEachOnce(harness, dead);
    expect(first.told).toEqual([]);
    await first.runner.stop();
    await second.runner.stop();
  });
});

describe('two nodes', () => {
  test('replay each item once, and one of them works on all jobs of a partition', async () => {
    await using harness = await EngineHarness.open();
    const dead = await deadLetters(harness, 90);
    const ids = dead.slice(0, 3).map(({ scheduleId }) => scheduleId);
    const nodes = [new Node(harness, 'a'), new Node(harness, 'b')];
    await harness.time.advance(100);
    for (const scheduleId of ids) await begin(harness, { scheduleId });
    await harness.time.advance(3_000);
    await expectEachOnce(harness, dead.slice(0, 3));
    const slow = await profileWith(harness, { rate: 0.001, burst: 1 });
    await deadLetters(harness, 2, { profile: slow });
    const waiting = await begin(harness, { createdAfter: instant(harness.now - 1_500) });
    await harness.time.advance(1_500);
    const { runner } = await stateOf(harness, waiting);
    const late = await deadLetters(harness, 2, { profile: slow });
    const other = await begin(harness, { scheduleId: late[0]?.scheduleId ?? null });
    await harness.time.advance(20_000);
    expect(await stateOf(harness, waiting)).toMatchObject({ state: 'running', runner });
    expect(await stateOf(harness, other)).toMatchObject({ state: 'running', runner });
    for (const { runner: one } of nodes) await one.stop();
  });
});

describe('a store that is away', () => {
  test('is waited for, and spoken of once', async () => {
    await using harness = await EngineHarness.open();
    const dead = await deadLetters(harness, 120);
    const job = await begin(harness);
    const node = new Node(harness, 'a');
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
    expect(await stateOf(harness, job)).toMatchObject({ state: 'done', replayed: 120 });
    await expectEachOnce(harness, dead);
    node.before = () => {
      throw new StoreUnavailable('The store is away.');
    };
    await harness.time.advance(5_000);
    expect(harness.log.lines).toHaveLength(2);
    await node.runner.stop();
  });

  test('and loses its answers: each is replayed once all the same', async () => {
    await using harness = await EngineHarness.open();
    const dead = await deadLetters(harness, 80);
    const job = await begin(harness);
    const node = new Node(harness, 'a');
    let writes = 0;
    node.after = (verb) => {
      const isWrite = verb === 'replaceJob' || verb === 'gather' || verb === 'replayItems';
      if (isWrite && ++writes % 2 === 1) throw new StoreUnavailable('The answer got lost.');
    };
    await harness.time.advance(60_000);
    expect(await stateOf(harness, job)).toMatchObject({ state: 'done', replayed: 80 });
    await expectEachOnce(harness, dead);
    await node.runner.stop();
  });

  test('while it stops leaves the job to its lease', async () => {
    await using harness = await EngineHarness.open();
    await deadLetters(harness, 150);
    const job = await begin(harness);
    const node = new Node(harness, 'a');
    await harness.time.advance(SOON_MS);
    node.before = () => {
      throw new StoreUnavailable('The store is away.');
    };
    await node.runner.stop();
    expect(await stateOf(harness, job)).toMatchObject({ state: 'running', runner: 'a' });
  });
});

test('jobs that have ended are kept as long as history', async () => {
  await using harness = await EngineHarness.open();
  const job = await begin(harness);
  const node = new Node(harness, 'a');
  await harness.time.advance(SOON_MS);
  harness.time.setClock(KEPT_MS - 3_600_000);
  await begin(harness);
  node.runner.wake();
  await harness.time.advance(SOON_MS);
  expect(await stateOf(harness, job)).toMatchObject({ state: 'done' });
  await harness.time.advance(3_600_000);
  expect(await harness.disk.jobs.findJob(PARTITION, job.id)).toBeNull();
  await node.runner.stop();
});

test('one that was never started stops', async () => {
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
