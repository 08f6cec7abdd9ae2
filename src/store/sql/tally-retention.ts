/**
 * Old tallies go a few partitions and a few steps of time at a time, so that no transaction is long, whatever has
 * gathered. Those of endpoints go by the hour: of one hour there may be many.
 */
import { type Instant, instant } from '#src/domain/instant.ts';
import type { Partition } from '#src/domain/partition.ts';
import { HOUR_MS, MINUTE_MS, type TallySpanMs } from '#src/domain/tally.ts';
import { PRUNED_PARTITIONS, PRUNED_STEPS } from './insight-bounds.ts';
import { insightVerbs } from './insight-verbs.ts';
import type { Step } from './steps.ts';

/** The oldest instant of a partition that has something old. */
export interface OldestRow {
  readonly partition: Partition;
  readonly at: Instant;
}

export interface TallyRetentionWorld {
  /** Of so many partitions. */
  oldestTallies(spanMs: TallySpanMs, before: Instant, limit: number): Promise<readonly OldestRow[]>;
  oldestEndpointTallies(before: Instant, limit: number): Promise<readonly OldestRow[]>;
  run(verbs: readonly (readonly Step[])[]): Promise<unknown>;
}

export async function pruneTallies(
  world: TallyRetentionWorld,
  minutesBefore: Instant,
  hoursBefore: Instant,
): Promise<void> {
  const spans = [
    [MINUTE_MS, minutesBefore],
    [HOUR_MS, hoursBefore],
  ] as const;
  for (const [spanMs, before] of spans) {
    await removeAll(
      () => world.oldestTallies(spanMs, before, PRUNED_PARTITIONS),
      ({ partition, at }) =>
        insightVerbs.removeTallies(partition, spanMs, earlier(before, at + PRUNED_STEPS * spanMs)),
      world,
    );
  }
  await removeAll(
    () => world.oldestEndpointTallies(hoursBefore, PRUNED_PARTITIONS),
    ({ partition, at }) => insightVerbs.removeEndpointTallies(partition, earlier(hoursBefore, at + HOUR_MS)),
    world,
  );
}

/** Whatever is found is older than asked, and gone after its verb: it ends. */
async function removeAll(
  oldest: () => Promise<readonly OldestRow[]>,
  remove: (row: OldestRow) => readonly Step[],
  world: TallyRetentionWorld,
): Promise<void> {
  for (let rows = await oldest(); rows.length > 0; rows = await oldest()) await world.run(rows.map(remove));
}

function earlier(before: Instant, ms: number): Instant {
  return instant(Math.min(before, ms));
}
