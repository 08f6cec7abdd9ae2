import { describe, expect, test } from 'vitest';
import type { Delivery } from '#src/domain/delivery.ts';
import { type EndpointKey, endpointKeyOf } from '#src/domain/endpoint-key.ts';
import type { DeliveryId, JobId, ScheduleId } from '#src/domain/id.ts';
import { instant } from '#src/domain/instant.ts';
import type { ReplayItem, ReplayJob } from '#src/domain/replay-job.ts';
import * as life from '#src/domain/replay-job.ts';
import { REDIRECT } from './builders.ts';
import { ALL_DELIVERIES } from './everything.ts';
import { type Fixture, ownSuite, pendingOf, type Suite } from './fixture.ts';

const MANY_ITEMS = 500;

export function replayJobsContract(suite: Suite): void {
  describe('a bulk replay', () => {
    test('is read back with every field, in every state', async () => {
      const fixture = await suite.fixture();
      const job = newJob(fixture, { expected: 1_000_000, createdBy: 'Zoë "Z" \u0000\u{1f600}' });
      const versions = [
        job,
        life.acquireLease(job, 'node-1', fixture.now),
        { ...job, state: 'running', cursor: 'dlv_1' as DeliveryId, gathered: 3, replayed: 1, skipped: 2 },
        { ...job, filter: { ...job.filter, scheduleId: 'sch_1' as ScheduleId, createdAfter: fixture.now } },
        life.stop(job, fixture.tick()) ?? job,
      ] as const;
      for (const version of versions) {
        const own = { ...version, id: fixture.ids.mint('job', fixture.tick()) };
        expect(await add(fixture, own)).toBe('done');
        expect(await fixture.store.jobs.findJob(fixture.partition, own.id)).toEqual(own);
        expect(await fixture.store.jobs.findJob(fixture.neighbour, own.id)).toBeNull();
      }
    });

    test('is listed newest first, and while open also among the jobs of all projects', async () => {
      const fixture = await suite.fixture();
      const other = await suite.fixture();
      const jobs = [await addJob(fixture), await addJob(fixture), await addJob(fixture)] as const;
      const elsewhere = await addJob(other);
      const stopped = life.stop(jobs[1], fixture.tick()) ?? jobs[1];
      expect(await fixture.store.jobs.replaceJob(stopped)).toBe('done');
      const { jobs: store } = fixture.store;
      expect(await store.listJobs(fixture.partition, 10)).toEqual([jobs[2], stopped, jobs[0]]);
      expect(await store.listJobs(fixture.partition, 2)).toEqual([jobs[2], stopped]);
      expect(await store.listOpenJobs(fixture.partition, 10)).toEqual([jobs[0], jobs[2]]);
      expect(await store.listOpenJobs(fixture.neighbour, 10)).toEqual([]);
      const open = (await store.listOpenJobs(null, 1_000)).map(({ id }) => id);
      expect(open).toEqual(open.toSorted());
      expect(open).toEqual(expect.arrayContaining([jobs[0].id, jobs[2].id, elsewhere.id]));
      expect(open).not.toContain(stopped.id);
      expect(await store.listOpenJobs(null, 1)).toHaveLength(1);
    });

    test('is not added beside an unknown open job, also at the same time', async () => {
      const fixture = await suite.fixture();
      const answers = await Promise.all([1, 2, 3].map(() => add(fixture, newJob(fixture), [])));
      expect(answers.toSorted()).toEqual(['done', 'stale', 'stale']);
      const [only] = await fixture.store.jobs.listOpenJobs(fixture.partition, 10);
      expect(await add(fixture, newJob(fixture), [])).toBe('stale');
      expect(await add(fixture, newJob(fixture), [newJob(fixture).id])).toBe('stale');
      expect(await add(fixture, newJob(fixture), only === undefined ? [] : [only.id])).toBe('done');
      const known = await knownOpen(fixture);
      expect(known).toHaveLength(2);
      expect(await add(fixture, newJob(fixture), known.slice(0, 1))).toBe('stale');
      const ended = (await fixture.store.jobs.listOpenJobs(fixture.partition, 10)).map(
        (job) => life.stop(job, fixture.now) ?? job,
      );
      for (const job of ended) expect(await fixture.store.jobs.replaceJob(job)).toBe('done');
      expect(await add(fixture, newJob(fixture), [])).toBe('done');
      expect(await add(fixture, { ...newJob(fixture), partition: fixture.neighbour }, [])).toBe('done');
    });

    test('is replaced only if its revision is the one that was read', async () => {
      const fixture = await suite.fixture();
      const job = await addJob(fixture);
      const held = life.acquireLease(job, 'node-1', fixture.now);
      const answers = await Promise.all([
        fixture.store.jobs.replaceJob(held),
        fixture.store.jobs.replaceJob(life.acquireLease(job, 'node-2', fixture.now)),
      ]);
      expect(answers.toSorted()).toEqual(['done', 'stale']);
      expect(await fixture.store.jobs.gather(held, itemsOf('https://a.example/', 'dlv_1'))).toBe('stale');
      expect(await endpointsOf(fixture, job)).toEqual([]);
      expect(await fixture.store.jobs.replaceJob({ ...held, partition: fixture.neighbour })).toBe('stale');
    });

    test('gathers items of many endpoints, and advances in the same step', async () => {
      const fixture = await suite.fixture();
      const job = await addJob(fixture);
      const long = `https://long.example/${'x'.repeat(4_000)}`;
      const items = [
        ...itemsOf('https://b.example/', 'dlv_2', 'dlv_1', 'dlv_3'),
        ...itemsOf(long, 'dlv_5'),
        ...itemsOf('ep_1', 'dlv_4'),
      ];
      const first = await gathered(fixture, job, items.slice(0, 2));
      const next = await gathered(fixture, first, items.slice(2));
      expect(await fixture.store.jobs.findJob(fixture.partition, job.id)).toEqual(next);
      const endpoints = await endpointsOf(fixture, job);
      expect(endpoints.toSorted()).toEqual(['ep_1', 'https://b.example/', long].toSorted());
      const { jobs } = fixture.store;
      for (const [at, endpoint] of endpoints.entries()) {
        const rest = await jobs.listItemEndpoints(fixture.partition, job.id, endpoint, 10);
        expect(rest).toEqual(endpoints.slice(at + 1));
      }
      expect(await jobs.listItemEndpoints(fixture.partition, job.id, null, 2)).toEqual(endpoints.slice(0, 2));
      expect(await jobs.listItemEndpoints(fixture.neighbour, job.id, null, 10)).toEqual([]);
      const list = (endpoint: string, limit: number) =>
        jobs.listItems(fixture.partition, job.id, endpoint as EndpointKey, limit);
      expect(await list('https://b.example/', 2)).toEqual(itemsOf('https://b.example/', 'dlv_1', 'dlv_2'));
      expect(await list(long, 10)).toEqual(itemsOf(long, 'dlv_5'));
      expect(await list('https://c.example/', 10)).toEqual([]);
    });

    test('gathers hundreds of items in one step', async () => {
      const fixture = await suite.fixture();
      const names = Array.from({ length: MANY_ITEMS }, (_, index) => `dlv_${index + 1_000}`);
      const job = await gathered(fixture, await addJob(fixture), itemsOf('ep_1', ...names));
      expect(job.gathered).toBe(MANY_ITEMS);
      const items = await fixture.store.jobs.listItems(
        fixture.partition,
        job.id,
        'ep_1' as EndpointKey,
        1_000,
      );
      expect(items.map(({ deliveryId }) => deliveryId)).toEqual(names);
    });
  });

  describe('replaying items', () => {
    test('removes them, adds their replays and advances the job', async () => {
      const { fixture, job, dead } = await ready(suite, 3);
      const [one, two, three] = dead;
      const replay = fixture.replay(one);
      const next = life.replayed(job, 1, 1, fixture.now);
      const written = await fixture.store.jobs.replayItems(next, [
        { item: itemOf(one), replay },
        { item: itemOf(two), replay: null },
      ]);
      expect(written).toBe('done');
      expect(await fixture.delivery(replay.id)).toEqual(replay);
      expect(await fixture.store.jobs.findJob(fixture.partition, job.id)).toEqual(next);
      expect(await itemsLeft(fixture, job)).toEqual([itemOf(three)]);
    });

    test('changes nothing if the job changed, or an item or a schedule is gone', async () => {
      const { fixture, job, dead } = await ready(suite, 3);
      const [one, two, three] = dead;
      const item = itemOf(one);
      const step = () => ({ item, replay: fixture.replay(one) });
      const next = life.replayed(job, 1, 0, fixture.now);
      const nowhere = { ...fixture.replay(two), scheduleId: 'sch_gone' as ScheduleId };
      const refused = await fixture.changesNothing(() =>
        Promise.all([
          fixture.store.jobs.replayItems({ ...next, revision: next.revision + 1 }, [step()]),
          fixture.store.jobs.replayItems({ ...next, partition: fixture.neighbour }, [step()]),
          fixture.store.jobs.replayItems(next, [
            step(),
            { item: { ...item, deliveryId: 'dlv_0' as DeliveryId }, replay: fixture.replay(three) },
          ]),
          fixture.store.jobs.replayItems(next, [step(), { item: itemOf(two), replay: nowhere }]),
        ]),
      );
      expect(refused).toEqual(['stale', 'stale', 'stale', 'stale']);
      expect(await fixture.store.jobs.findJob(fixture.partition, job.id)).toEqual(job);
      expect(await itemsLeft(fixture, job)).toHaveLength(3);
    });

    test('by two nodes at the same time replays each item once', async () => {
      const { fixture, job, dead } = await ready(suite, 6);
      const attempts = dead.flatMap((original) =>
        [1, 2].map(() => ({ item: itemOf(original), replay: fixture.replay(original) })),
      );
      const run = async (attempt: (typeof attempts)[number]) => {
        for (;;) {
          const current = await fixture.store.jobs.findJob(fixture.partition, job.id);
          const left = (await itemsLeft(fixture, job)).map(({ deliveryId }) => deliveryId);
          if (current === null || !left.includes(attempt.item.deliveryId)) return 'gone';
          const next = life.replayed(current, 1, 0, fixture.now);
          if ((await fixture.store.jobs.replayItems(next, [attempt])) === 'done') return 'done';
        }
      };
      const answers = await Promise.all(attempts.map(run));
      expect(answers.filter((answer) => answer === 'done')).toHaveLength(dead.length);
      const after = await fixture.store.jobs.findJob(fixture.partition, job.id);
      expect(after).toMatchObject({ state: 'done', gathered: 6, replayed: 6 });
      const all = await fixture.store.listDeliveries(fixture.partition, ALL_DELIVERIES, {
        before: null,
        limit: 100,
      });
      const replayedOf = all.flatMap(({ replayOf }) => (replayOf === null ? [] : [replayOf]));
      expect(replayedOf.toSorted()).toEqual(dead.map(({ id }) => id).toSorted());
      expect(await itemsLeft(fixture, job)).toEqual([]);
    });

    test('is unchanged after reopening', async () => {
      const { fixture, job, dead } = await ready(suite, 3);
      await fixture.reopen();
      expect(await fixture.store.jobs.findJob(fixture.partition, job.id)).toEqual(job);
      expect(await itemsLeft(fixture, job)).toEqual(dead.map(itemOf));
    });
  });

  describe('jobs that have ended', () => {
    const own = ownSuite(suite);

    test('lose their items in batches, and are removed when they are old; open jobs stay', async () => {
      const fixture = await own.fixture();
      const open = await gathered(fixture, await addJob(fixture), itemsOf('ep_1', 'dlv_1', 'dlv_2'));
      const stopped: ReplayJob[] = [];
      for (const endpoint of ['ep_1', 'ep_2']) {
        const job = await gathered(
          fixture,
          await addJob(fixture),
          itemsOf(endpoint, 'dlv_1', 'dlv_2', 'dlv_3'),
        );
        const end = life.stop(job, fixture.tick()) ?? job;
        expect(await fixture.store.jobs.replaceJob(end)).toBe('done');
        stopped.push(end);
      }
      const { jobs } = fixture.store;
      const left = async () =>
        (await Promise.all([open, ...stopped].map((job) => itemsLeft(fixture, job)))).map(
          ({ length }) => length,
        );
      expect(await jobs.pruneJobs(null, 2)).toBe(2);
      expect(await left()).toSatisfy(([of = 0, a = 0, b = 0]) => of === 2 && a + b === 4);
      expect(await jobs.pruneJobs(null, 100)).toBe(4);
      expect(await left()).toEqual([2, 0, 0]);
      expect(await jobs.pruneJobs(null, 100)).toBe(0);
      const [first, second] = stopped;
      expect(await jobs.pruneJobs(instant((first?.endedAt ?? 0) + 1), 100)).toBe(1);
      expect(await jobs.listJobs(fixture.partition, 10)).toEqual([{ ...second, cursor: null }, open]);
      expect(await jobs.pruneJobs(instant(fixture.now + 1), 100)).toBe(1);
      expect(await jobs.listJobs(fixture.partition, 10)).toEqual([open]);
      expect(await jobs.pruneJobs(instant(fixture.now + 1), 100)).toBe(0);
      expect(await left()).toEqual([2, 0, 0]);
    });
  });
}

export function newJob(fixture: Fixture, given: Partial<ReplayJob> = {}): ReplayJob {
  const now = fixture.tick();
  const job = life.createJob(
    {
      partition: fixture.partition,
      id: fixture.ids.mint('job', now),
      filter: { status: 'dead_letter', scheduleId: null, createdAfter: null, createdBefore: now },
      expected: 1,
      createdBy: 'ada',
    },
    now,
  );
  return { ...job, ...given };
}

async function knownOpen(fixture: Fixture): Promise<readonly JobId[]> {
  return (await fixture.store.jobs.listOpenJobs(fixture.partition, 100)).map(({ id }) => id);
}

async function add(fixture: Fixture, job: ReplayJob, known?: readonly JobId[]): Promise<'done' | 'stale'> {
  return fixture.store.jobs.addJob(job, known ?? (await knownOpen(fixture)));
}

async function addJob(fixture: Fixture): Promise<ReplayJob> {
  const job = newJob(fixture);
  expect(await add(fixture, job)).toBe('done');
  return job;
}

function itemsOf(endpoint: string, ...ids: readonly string[]): readonly ReplayItem[] {
  return ids.map((id) => ({ deliveryId: id as DeliveryId, endpoint: endpoint as EndpointKey }));
}

function itemOf({ id, target }: Delivery): ReplayItem {
  return { deliveryId: id, endpoint: endpointKeyOf(target) };
}

async function gathered(
  fixture: Fixture,
  job: ReplayJob,
  items: readonly ReplayItem[],
  isLast = false,
): Promise<ReplayJob> {
  const next = life.gathered(job, items, isLast, fixture.tick());
  expect(await fixture.store.jobs.gather(next, items)).toBe('done');
  return next;
}

function endpointsOf(fixture: Fixture, { partition, id }: ReplayJob): Promise<readonly EndpointKey[]> {
  return fixture.store.jobs.listItemEndpoints(partition, id, null, 100);
}

/** Items of every endpoint. */
async function itemsLeft(fixture: Fixture, job: ReplayJob): Promise<readonly ReplayItem[]> {
  const items: ReplayItem[] = [];
  for (const endpoint of await endpointsOf(fixture, job)) {
    items.push(...(await fixture.store.jobs.listItems(job.partition, job.id, endpoint, 1_000)));
  }
  return items;
}

/** A job that has gathered a number of dead letters of one endpoint. */
async function ready(suite: Suite, count: number) {
  const fixture = await suite.fixture();
  const dead: Delivery[] = [];
  for (let each = 0; each < count; each++) {
    dead.push(await fixture.fire(pendingOf(await fixture.addSchedule()), REDIRECT));
  }
  const [one, two, three, ...others] = dead;
  if (one === undefined || two === undefined || three === undefined)
    throw new Error('The job needs at least three items.');
  const job = await gathered(fixture, await addJob(fixture), dead.map(itemOf), true);
  return { fixture, job, dead: [one, two, three, ...others] as const };
}
