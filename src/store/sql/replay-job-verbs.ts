/** The verbs of bulk replays. Steps that can fail come first, as in all verbs. */
import type { JobId } from '#src/domain/id.ts';
import type { ReplayItem, ReplayJob } from '#src/domain/replay-job.ts';
import type { ItemReplay } from '#src/ports/replay-job-store.ts';
import { endpointDigest } from './digests.ts';
import { REPLAY_JOB_FIXED, REPLAY_JOB_MUTABLE, toReplayJobRow } from './replay-job-rows.ts';
import { guard, type Parameter, pick, type Step } from './steps.ts';
import type { makeVerbs } from './verbs.ts';

export type JobKey = Pick<ReplayJob, 'partition' | 'id'>;

/** Identifies an item within its job. */
export interface ItemKey {
  readonly endpoint_digest: string;
  readonly delivery_id: string;
}

export function makeReplayJobVerbs({ addReplay }: Pick<ReturnType<typeof makeVerbs>, 'addReplay'>) {
  return {
    /**
     * Jobs of a partition are added one at a time. The caller must know every open job, or the verb answers `stale`.
     */
    addJob: (job: ReplayJob, knownOpen: readonly JobId[]): readonly Step[] => [
      ['lockPartition', 'stale', job.partition],
      ['noOtherReplayJob', 'stale', job.partition, knownOpen.join(' '), knownOpen.join(' ')],
      ['insertReplayJob', null, ...pick(toReplayJobRow(job), REPLAY_JOB_FIXED, REPLAY_JOB_MUTABLE)],
    ],

    replaceJob: (job: ReplayJob): readonly Step[] => [replaceJob(job)],

    gather: (job: ReplayJob, items: readonly ReplayItem[]): readonly Step[] => [
      replaceJob(job),
      ...items.map((item): Step => ['insertReplayItem', null, ...keyOf(job, item), item.endpoint]),
    ],

    replayItems: (job: ReplayJob, replays: readonly ItemReplay[]): readonly Step[] => {
      const added = replays.flatMap(({ replay }) =>
        replay === null ? [] : addReplay({ delivery: replay, receipt: null }),
      );
      return [
        // Schedules are locked in the order in which every transaction locks them.
        ...added.filter(([name]) => name === 'scheduleExists').toSorted(byParameters),
        replaceJob(job),
        ...replays.map(({ item }): Step => ['takeReplayItem', 'stale', ...keyOf(job, item)]),
        ...added.filter(([name]) => name !== 'scheduleExists'),
      ];
    },

    /** Removes items up to the last of them. `areAll`: the job has no others. */
    removeItems: ({ partition, id }: JobKey, last: ItemKey | undefined, areAll: boolean): readonly Step[] => [
      ...(last === undefined
        ? []
        : [['removeReplayItems', null, partition, id, last.endpoint_digest, last.delivery_id] as const]),
      ...(areAll ? [['clearReplayJob', null, partition, id] as const] : []),
    ],

    removeJobs: (jobs: readonly JobKey[]): readonly Step[] =>
      jobs.map(({ partition, id }) => ['removeReplayJob', null, partition, id]),
  };
}

function byParameters(one: Step, other: Step): number {
  return one.join(' ') < other.join(' ') ? -1 : 1;
}

function replaceJob(job: ReplayJob): Step {
  const row = toReplayJobRow(job);
  return ['replaceReplayJob', 'stale', ...pick(row, REPLAY_JOB_MUTABLE), ...guard(job)];
}

function keyOf({ partition, id }: ReplayJob, { endpoint, deliveryId }: ReplayItem): readonly Parameter[] {
  return [partition, id, endpointDigest(endpoint), deliveryId];
}
