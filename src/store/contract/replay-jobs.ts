import { describe, expect, test } from 'vitest';
import type { Delivery } from '#src/domain/delivery.ts';
import { type EndpointKey, endpointKeyOf } from '#src/domain/endpoint-key.ts';
import type { DeliveryId, JobId, ScheduleId } from '#src/domain/id.ts';
import { instant } from '#src/domain/instant.ts';
import type { ReplayItem, ReplayJob } from '#src/domain/replay-job.ts';
import * as life from '#src/domain/replay-job.ts';
import { type Bench, ownSuite, pendingOf, type Suite } from './bench.ts';
import { REDIRECT } from './builders.ts';
import { ALL_DELIVERIES } from './everything.ts';

const MANY_ITEMS = 500;

export function replayJobsContract(suite: Suite): void {
  describe('a bulk replay', () => {
    test('is read back field for field, whatever it has come to', async () => {
      const bench = await suite.bench();
      const job = newJob(bench, { expected: 1_000_000, createdBy: 'Zoë "Z" \u0000\u{1f600}' });
      const versions = [
        job,
        life.lease(job, 'node-1', bench.now),
        { ...job, state: 'running', cursor: 'dlv_1' as DeliveryId, gathered: 3, replayed: 1, skipped: 2 },
        { ...job, filter: { ...job.filter, scheduleId: 'sch_1' as ScheduleId, createdAfter: bench.now } },
        life.stop(job, bench.tick()) ?? job,
      ] as const;
      for (const version of versions) {
        const own = { ...version, id: bench.ids.mint('job', bench.tick()) };
        expect(await add(bench, own)).toBe('done');
        expect(await bench.store.jobs.findJob(bench.partition, own.id)).toEqual(own);
        expect(await bench.store.jobs.findJob(bench.neighbour, own.id)).toBeNull();
      }
    });

    test('is listed newest first, and while it is open among those of all', async () => {
      const bench = await suite.bench();
      const other = await suite.bench();
      const jobs = [await addJob(bench), await addJob(bench), await addJob(bench)] as const;
      const elsewhere = await addJob(other);
      const stopped = life.stop(jobs[1], bench.tick()) ?? jobs[1];
      expect(await bench.store.jobs.replaceJob(stopped)).toBe('done');
      const { jobs: store } = bench.store;
      expect(await store.listJobs(bench.partition, 10)).toEqual([jobs[2], stopped, jobs[0]]);
      expect(await store.listJobs(bench.partition, 2)).toEqual([jobs[2], stopped]);
      expect(await store.listOpenJobs(bench.partition, 10)).toEqual([jobs[0], jobs[2]]);
      expect(await store.listOpenJobs(bench.neighbour, 10)).toEqual([]);
      const open = (await store.listOpenJobs(null, 1_000)).map(({ id }) => id);
      expect(open).toEqual(open.toSorted());
      expect(open).toEqual(expect.arrayContaining([jobs[0].id, jobs[2].id, elsewhere.id]));
      expect(open).not.toContain(stopped.id);
      expect(await store.listOpenJobs(null, 1)).toHaveLength(1);
    });

    test('is not added beside an open one that was not known, however close they come', async () => {
      const bench = await suite.bench();
      const answers = await Promise.all([1, 2, 3].map(() => add(bench, newJob(bench), [])));
      expect(answers.toSorted()).toEqual(['done', 'stale', 'stale']);
      const [only] = await bench.store.jobs.listOpenJobs(bench.partition, 10);
      expect(await add(bench, newJob(bench), [])).toBe('stale');
      expect(await add(bench, newJob(bench), [newJob(bench).id])).toBe('stale');
      expect(await add(bench, newJob(bench), only === undefined ? [] : [only.id])).toBe('done');
      const known = await knownOpen(bench);
      expect(known).toHaveLength(2);
      expect(await add(bench, newJob(bench), known.slice(0, 1))).toBe('stale');
      const ended = (await bench.store.jobs.listOpenJobs(bench.partition, 10)).map(
        (job) => life.stop(job, bench.now) ?? job,
      );
      for (const job of ended) expect(await bench.store.jobs.replaceJob(job)).toBe('done');
      expect(await add(bench, newJob(bench), [])).toBe('done');
      expect(await add(bench, { ...newJob(bench), partition: bench.neighbour }, [])).toBe('done');
    });

    test('is moved only from the revision it was read with', async () => {
      const bench = await suite.bench();
      const job = await addJob(bench);
      const held = life.lease(job, 'node-1', bench.now);
      const answers = await Promise.all([
        bench.store.jobs.replaceJob(held),
        bench.store.jobs.replaceJob(life.lease(job, 'node-2', bench.now)),
      ]);
      expect(answers.toSorted()).toEqual(['done', 'stale']);
      expect(await bench.store.jobs.gather(held, itemsOf('https://a.example/', 'dlv_1'))).toBe('stale');
      expect(await endpointsOf(bench, job)).toEqual([]);
      expect(await bench.store.jobs.replaceJob({ ...held, partition: bench.neighbour })).toBe('stale');
    });

    test('gathers items of many endpoints, and moves on in the same step', async () => {
      const bench = await suite.bench();
      const job = await addJob(bench);
      const long = `https://long.example/${'x'.repeat(4_000)}`;
      const items = [
        ...itemsOf('https://b.example/', 'dlv_2', 'dlv_1', 'dlv_3'),
        ...itemsOf(long, 'dlv_5'),
        ...itemsOf('ep_1', 'dlv_4'),
      ];
      const first = await gathered(bench, job, items.slice(0, 2));
      const next = await gathered(bench, first, items.slice(2));
      expect(await bench.store.jobs.findJob(bench.partition, job.id)).toEqual(next);
      const endpoints = await endpointsOf(bench, job);
      expect(endpoints.toSorted()).toEqual(['ep_1', 'https://b.example/', long].toSorted());
      const { jobs } = bench.store;
      for (const [at, endpoint] of endpoints.entries()) {
        const rest = await jobs.listItemEndpoints(bench.partition, job.id, endpoint, 10);
        expect(rest).toEqual(endpoints.slice(at + 1));
      }
      expect(await jobs.listItemEndpoints(bench.partition, job.id, null, 2)).toEqual(endpoints.slice(0, 2));
      expect(await jobs.listItemEndpoints(bench.neighbour, job.id, null, 10)).toEqual([]);
      const list = (endpoint: string, limit: number) =>
        jobs.listItems(bench.partition, job.id, endpoint as EndpointKey, limit);
      expect(await list('https://b.example/', 2)).toEqual(itemsOf('https://b.example/', 'dlv_1', 'dlv_2'));
      expect(await list(long, 10)).toEqual(itemsOf(long, 'dlv_5'));
      expect(await list('https://c.example/', 10)).toEqual([]);
    });

    test('gathers hundreds in one step', async () => {
      const bench = await suite.bench();
      const names = Array.from({ length: MANY_ITEMS }, (_, index) => `dlv_${index + 1_000}`);
      const job = await gathered(bench, await addJob(bench), itemsOf('ep_1', ...names));
      expect(job.gathered).toBe(MANY_ITEMS);
      const items = await bench.store.jobs.listItems(bench.partition, job.id, 'ep_1' as EndpointKey, 1_000);
      expect(items.map(({ deliveryId }) => deliveryId)).toEqual(names);
    });
  });

  describe('replaying items', () => {
    test('takes them away, adds their replays and moves the job', async () => {
      const { bench, job, dead } = await ready(suite, 3);
      const [one, two, three] = dead;
      const replay = bench.replay(one);
      const next = life.replayed(job, 1, 1, bench.now);
      const written = await bench.store.jobs.replayItems(next, [
        { item: itemOf(one), replay },
        { item: itemOf(two), replay: null },
      ]);
      expect(written).toBe('done');
      expect(await bench.delivery(replay.id)).toEqual(replay);
      expect(await bench.store.jobs.findJob(bench.partition, job.id)).toEqual(next);
      expect(await itemsLeft(bench, job)).toEqual([itemOf(three)]);
    });

    test('changes nothing where the job has moved, an item is gone or a schedule is', async () => {
      const { bench, job, dead } = await ready(suite, 3);
      const [one, two, three] = dead;
      const item = itemOf(one);
      const step = () => ({ item, replay: bench.replay(one) });
      const next = life.replayed(job, 1, 0, bench.now);
      const nowhere = { ...bench.replay(two), scheduleId: 'sch_gone' as ScheduleId };
      const refused = await bench.changesNothing(() =>
        Promise.all([
          bench.store.jobs.replayItems({ ...next, revision: next.revision + 1 }, [step()]),
          bench.store.jobs.replayItems({ ...next, partition: bench.neighbour }, [step()]),
          bench.store.jobs.replayItems(next, [
            step(),
            { item: { ...item, deliveryId: 'dlv_0' as DeliveryId }, replay: bench.replay(three) },
          ]),
          bench.store.jobs.replayItems(next, [step(), { item: itemOf(two), replay: nowhere }]),
        ]),
      );
      expect(refused).toEqual(['stale', 'stale', 'stale', 'stale']);
      expect(await bench.store.jobs.findJob(bench.partition, job.id)).toEqual(job);
      expect(await itemsLeft(bench, job)).toHaveLength(3);
    });

    test('by two at once replays each item once', async () => {
      const { bench, job, dead } = await ready(suite, 6);
      const attempts = dead.flatMap((original) =>
        [1, 2].map(() => ({ item: itemOf(original), replay: bench.replay(original) })),
      );
      const run = async (attempt: (typeof attempts)[number]) => {
        for (;;) {
          const current = await bench.store.jobs.findJob(bench.partition, job.id);
          const left = (await itemsLeft(bench, job)).map(({ deliveryId }) => deliveryId);
          if (current === null || !left.includes(attempt.item.deliveryId)) return 'gone';
          const next = life.replayed(current, 1, 0, bench.now);
          if ((await bench.store.jobs.replayItems(next, [attempt])) === 'done') return 'done';
        }
      };
      const answers = await Promise.all(attempts.map(run));
      expect(answers.filter((answer) => answer === 'done')).toHaveLength(dead.length);
      const after = await bench.store.jobs.findJob(bench.partition, job.id);
      expect(after).toMatchObject({ state: 'done', gathered: 6, replayed: 6 });
      const all = await bench.store.listDeliveries(bench.partition, ALL_DELIVERIES, {
        before: null,
        limit: 100,
      });
      const replayedOf = all.flatMap(({ replayOf }) => (replayOf === null ? [] : [replayOf]));
      expect(replayedOf.toSorted()).toEqual(dead.map(({ id }) => id).toSorted());
      expect(await itemsLeft(bench, job)).toEqual([]);
    });

    test('is as it was after opening again', async () => {
      const { bench, job, dead } = await ready(suite, 3);
      await bench.reopen();
      expect(await bench.store.jobs.findJob(bench.partition, job.id)).toEqual(job);
      expect(await itemsLeft(bench, job)).toEqual(dead.map(itemOf));
    });
  });

  describe('jobs that have ended', () => {
    const own = ownSuite(suite);

    test('lose their items a few at a time, and go when they are old enough; open ones stay', async () => {
      const bench = await own.bench();
      const open = await gathered(bench, await addJob(bench), itemsOf('ep_1', 'dlv_1', 'dlv_2'));
      const stopped: ReplayJob[] = [];
      for (const endpoint of ['ep_1', 'ep_2']) {
        const job = await gathered(bench, await addJob(bench), itemsOf(endpoint, 'dlv_1', 'dlv_2', 'dlv_3'));
        const end = life.stop(job, bench.tick()) ?? job;
        expect(await bench.store.jobs.replaceJob(end)).toBe('done');
        stopped.push(end);
      }
      const { jobs } = bench.store;
      const left = async () =>
        (await Promise.all([open, ...stopped].map((job) => itemsLeft(bench, job)))).map(
          ({ length }) => length,
        );
      expect(await jobs.pruneJobs(null, 2)).toBe(2);
      expect(await left()).toSatisfy(([of = 0, a = 0, b = 0]) => of === 2 && a + b === 4);
      expect(await jobs.pruneJobs(null, 100)).toBe(4);
      expect(await left()).toEqual([2, 0, 0]);
      expect(await jobs.pruneJobs(null, 100)).toBe(0);
      const [first, second] = stopped;
      expect(await jobs.pruneJobs(instant((first?.endedAt ?? 0) + 1), 100)).toBe(1);
      expect(await jobs.listJobs(bench.partition, 10)).toEqual([{ ...second, cursor: null }, open]);
      expect(await jobs.pruneJobs(instant(bench.now + 1), 100)).toBe(1);
      expect(await jobs.listJobs(bench.partition, 10)).toEqual([open]);
      expect(await jobs.pruneJobs(instant(bench.now + 1), 100)).toBe(0);
      expect(await left()).toEqual([2, 0, 0]);
    });
  });
}

function newJob(bench: Bench, given: Partial<ReplayJob> = {}): ReplayJob {
  const now = bench.tick();
  const job = life.begin(
    {
      partition: bench.partition,
      id: bench.ids.mint('job', now),
      filter: { status: 'dead_letter', scheduleId: null, createdAfter: null, createdBefore: now },
      expected: 1,
      createdBy: 'ada',
    },
    now,
  );
  return { ...job, ...given };
}

async function knownOpen(bench: Bench): Promise<readonly JobId[]> {
  return (await bench.store.jobs.listOpenJobs(bench.partition, 100)).map(({ id }) => id);
}

async function add(bench: Bench, job: ReplayJob, known?: readonly JobId[]): Promise<'done' | 'stale'> {
  return bench.store.jobs.addJob(job, known ?? (await knownOpen(bench)));
}

async function addJob(bench: Bench): Promise<ReplayJob> {
  const job = newJob(bench);
  expect(await add(bench, job)).toBe('done');
  return job;
}

function itemsOf(endpoint: string, ...ids: readonly string[]): readonly ReplayItem[] {
  return ids.map((id) => ({ deliveryId: id as DeliveryId, endpoint: endpoint as EndpointKey }));
}

function itemOf({ id, target }: Delivery): ReplayItem {
  return { deliveryId: id, endpoint: endpointKeyOf(target) };
}

async function gathered(
  bench: Bench,
  job: ReplayJob,
  items: readonly ReplayItem[],
  isLast = false,
): Promise<ReplayJob> {
  const next = life.gathered(job, items, isLast, bench.tick());
  expect(await bench.store.jobs.gather(next, items)).toBe('done');
  return next;
}

function endpointsOf(bench: Bench, { partition, id }: ReplayJob): Promise<readonly EndpointKey[]> {
  return bench.store.jobs.listItemEndpoints(partition, id, null, 100);
}

/** Of every endpoint. */
async function itemsLeft(bench: Bench, job: ReplayJob): Promise<readonly ReplayItem[]> {
  const items: ReplayItem[] = [];
  for (const endpoint of await endpointsOf(bench, job)) {
    items.push(...(await bench.store.jobs.listItems(job.partition, job.id, endpoint, 1_000)));
  }
  return items;
}

/** A job that has gathered so many dead letters of one endpoint. */
async function ready(suite: Suite, count: number) {
  const bench = await suite.bench();
  const dead: Delivery[] = [];
  for (let each = 0; each < count; each++) {
    dead.push(await bench.fire(pendingOf(await bench.addSchedule()), REDIRECT));
  }
  const [one, two, three, ...others] = dead;
  if (one === undefined || two === undefined || three === undefined) throw new Error('Three are the least.');
  const job = await gathered(bench, await addJob(bench), dead.map(itemOf), true);
  return { bench, job, dead: [one, two, three, ...others] as const };
}
