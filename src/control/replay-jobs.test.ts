import { describe, expect, test } from 'vitest';
import { DELIVERY_STATUSES } from '#src/domain/delivery.ts';
import { isReplayable } from '#src/domain/delivery-lifecycle.ts';
import type { JobId, ScheduleId } from '#src/domain/id.ts';
import { instant } from '#src/domain/instant.ts';
import type { Partition } from '#src/domain/project.ts';
import { acquireLease, OPEN_REPLAY_JOBS_MAX } from '#src/domain/replay-job.ts';
import type { DeliveryFilter } from '#src/ports/lists.ts';
import { type ControlHarness, openControlHarness, START } from '#test/process/control-harness.ts';
import { createProject } from './bootstrap.ts';
import { beginReplay, type ReplayJobsDependencies, stopReplay } from './replay-jobs.ts';

interface Opened extends AsyncDisposable {
  readonly harness: ReplayJobsDependencies;
  readonly partition: Partition;
  readonly neighbour: Partition;
  readonly control: ControlHarness;
}

async function open(): Promise<Opened> {
  const control = await openControlHarness();
  const { partitions } = await createProject(control, 'shop');
  return {
    harness: { jobs: control.store.jobs, clock: control.clock, ids: control.ids },
    partition: partitions.test,
    neighbour: partitions.live,
    control,
    [Symbol.asyncDispose]: () => control[Symbol.asyncDispose](),
  };
}

const DEAD: DeliveryFilter = {
  status: 'dead_letter',
  scheduleId: null,
  createdAfter: null,
  createdBefore: null,
};

function ofSchedule(number: number): DeliveryFilter {
  return { ...DEAD, scheduleId: `sch_${number}` as ScheduleId };
}

describe('beginning a bulk replay', () => {
  test('creates a job for the deliveries that exist now', async () => {
    await using opened = await open();
    const { harness, partition } = opened;
    const job = await beginReplay(harness, partition, DEAD, 7, 'ada');
    expect(job).toMatchObject({ state: 'gathering', expected: 7, createdBy: 'ada', createdAt: START });
    expect(job.filter).toEqual({ ...DEAD, createdBefore: START });
    expect(await harness.jobs.findJob(partition, job.id)).toEqual(job);
  });

  test('keeps a created_before in the past, and replaces one in the future by now', async () => {
    await using opened = await open();
    const ends = [];
    for (const [index, ms] of [-1_000, 1_000].entries()) {
      const filter = { ...ofSchedule(index), createdBefore: instant(START + ms) };
      const job = await beginReplay(opened.harness, opened.partition, filter, 1, 'ada');
      ends.push(job.filter.createdBefore);
    }
    expect(ends).toEqual([START - 1_000, START]);
  });

  test('of deliveries that cannot be replayed, or of no status, is refused', async () => {
    await using opened = await open();
    const { harness, partition } = opened;
    for (const status of [null, ...DELIVERY_STATUSES.filter((one) => !isReplayable(one))]) {
      await expect(beginReplay(harness, partition, { ...DEAD, status }, 1, 'ada')).rejects.toMatchObject({
        code: 'invalid_request',
        param: 'status',
      });
    }
    await expect(beginReplay(harness, partition, DEAD, 0, 'ada')).rejects.toMatchObject({
      code: 'invalid_request',
      param: 'expected',
    });
    expect(await harness.jobs.listJobs(partition, 10)).toEqual([]);
  });

  test('is refused while another job may replay the same deliveries', async () => {
    await using opened = await open();
    const { harness, partition, neighbour, control } = opened;
    const clicks = await Promise.allSettled(
      [1, 2].map(() => beginReplay(harness, partition, DEAD, 1, 'ada')),
    );
    expect(clicks.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected']);
    const [only] = await harness.jobs.listJobs(partition, 10);
    control.advance(60_000);
    await expect(beginReplay(harness, partition, ofSchedule(1), 1, 'ada')).rejects.toMatchObject({
      code: 'replay_under_way',
      subject: only?.id,
    });
    await beginReplay(harness, partition, { ...DEAD, status: 'expired' }, 1, 'ada');
    await beginReplay(harness, neighbour, DEAD, 1, 'ada');
    await stopReplay(harness, partition, only?.id ?? ('' as JobId));
    await beginReplay(harness, partition, ofSchedule(1), 1, 'ada');
  });

  test('is refused while too many jobs are open', async () => {
    await using opened = await open();
    const { harness, partition } = opened;
    const jobs = [];
    for (let each = 0; each < OPEN_REPLAY_JOBS_MAX; each++) {
      jobs.push(await beginReplay(harness, partition, ofSchedule(each), 1, 'ada'));
    }
    const more = () => beginReplay(harness, partition, ofSchedule(jobs.length), 1, 'ada');
    await expect(more()).rejects.toMatchObject({ code: 'too_many_jobs' });
    await stopReplay(harness, partition, jobs[0]?.id ?? ('' as JobId));
    await more();
  });
});

describe('stopping a bulk replay', () => {
  test('ends it, although another node changes it at the same time', async () => {
    await using opened = await open();
    const { harness, partition, control } = opened;
    const job = await beginReplay(harness, partition, DEAD, 1, 'ada');
    let moves = 3;
    const busy: ReplayJobsDependencies = {
      ...harness,
      jobs: new Proxy(harness.jobs, {
        get: (target, name) => {
          const member: unknown = Reflect.get(target, name, target);
          if (typeof member !== 'function') return member;
          return async (...given: readonly unknown[]) => {
            const now = await target.findJob(partition, job.id);
            if (name === 'replaceJob' && now !== null && moves-- > 0) {
              await target.replaceJob(acquireLease(now, 'node', now.createdAt));
            }
            return Reflect.apply(member, target, given);
          };
        },
      }),
    };
    control.advance(1_000);
    const stopped = await stopReplay(busy, partition, job.id);
    expect(stopped).toMatchObject({ state: 'stopped', endedAt: START + 1_000, runner: null, revision: 5 });
    expect(await harness.jobs.findJob(partition, job.id)).toEqual(stopped);
  });

  test('that has ended or does not exist is refused', async () => {
    await using opened = await open();
    const { harness, partition, neighbour } = opened;
    const { id } = await beginReplay(harness, partition, DEAD, 1, 'ada');
    await expect(stopReplay(harness, neighbour, id)).rejects.toMatchObject({ code: 'not_found' });
    await stopReplay(harness, partition, id);
    await expect(stopReplay(harness, partition, id)).rejects.toMatchObject({ code: 'job_ended' });
  });
});
