/** For tests only: processes that run bulk replays, in virtual time. */
import { expect } from 'vitest';
import type { Delivery } from '#src/domain/delivery.ts';
import type { DueDelivery } from '#src/domain/due-delivery.ts';
import { MS_PER_DAY } from '#src/domain/instant.ts';
import { createJob, type ReplayFilter, type ReplayJob, stop } from '#src/domain/replay-job.ts';
import { ReplayRunner, type ReplayRunnerDependencies } from '#src/engine/replays/replay-runner.ts';
import type { ReplayJobStore } from '#src/ports/replay-job-store.ts';
import { type EngineHarness, PARTITION, type ScheduleOptions } from './engine-harness.ts';
import { REDIRECT } from './store-contract/builders.ts';
import { ALL_DELIVERIES } from './store-contract/everything.ts';

export const RETENTION_MS = 90 * MS_PER_DAY;
/** The time to find a job, to gather some items and to replay the burst of a budget. */
export const SOON_MS = 500;

type Hook = (verb: keyof ReplayJobStore) => unknown;

/** A process that runs bulk replays on the store of a harness. */
export class ReplayNode {
  /** The deliveries that it sent hints for. */
  readonly hinted: DueDelivery[] = [];
  readonly runner: ReplayRunner;
  /** Called before and after each verb of the store. */
  before: Hook = () => undefined;
  after: Hook = () => undefined;
  #isDead = false;

  constructor(harness: EngineHarness, node: string, given: Partial<ReplayRunnerDependencies> = {}) {
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
          worksByCustomer: store.worksByCustomer,
          listDeliveries: (...args) => store.listDeliveries(...args),
          findDelivery: (...args) => store.findDelivery(...args),
          findProfile: (...args) => store.findProfile(...args),
          jobs: this.#watched(harness.disk.jobs),
        },
        hints: { due: (due) => void (due !== null && this.hinted.push(due)) },
        ...given,
      },
      { retentionMs: RETENTION_MS },
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

  /** Kills the process without a stop: nothing that it waits forever comes. */
  kill(): void {
    this.#isDead = true;
  }
}

/** Stores as many dead letters. */
export async function deadLetters(
  harness: EngineHarness,
  count: number,
  order: ScheduleOptions = {},
): Promise<Delivery[]> {
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

export async function createReplayJob(
  harness: EngineHarness,
  filter: Partial<ReplayFilter> = {},
): Promise<ReplayJob> {
  const job = createJob(
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

export async function readJob(harness: EngineHarness, { id }: ReplayJob): Promise<ReplayJob> {
  const job = await harness.disk.jobs.findJob(PARTITION, id);
  if (job === null) throw new Error('There is no such job.');
  return job;
}

export async function listReplays(harness: EngineHarness): Promise<readonly Delivery[]> {
  const page = { before: null, limit: 10_000 };
  const all = await harness.disk.listDeliveries(PARTITION, ALL_DELIVERIES, page);
  return all.filter(({ replayOf }) => replayOf !== null);
}

export async function countReplaysTo(harness: EngineHarness, url: string): Promise<number> {
  return (await listReplays(harness)).filter(({ target }) => target.url === url).length;
}

/** Expects one replay of each of these deliveries, and no other. */
export async function expectEachReplayedOnce(
  harness: EngineHarness,
  dead: readonly Delivery[],
): Promise<void> {
  const originals = (await listReplays(harness)).map(({ replayOf }) => replayOf ?? '');
  expect(originals.toSorted()).toEqual(dead.map(({ id }) => id as string).toSorted());
}

export async function stopJob(harness: EngineHarness, job: ReplayJob): Promise<void> {
  const stopped = stop(await readJob(harness, job), harness.now);
  if (stopped === null) throw new Error('The job has ended.');
  expect(await harness.disk.jobs.replaceJob(stopped)).toBe('done');
}
