import type { Counts } from '#src/control/http/data-contract.ts';
import type { Stats } from '#src/domain/stats.ts';

export function presentCounts({ fired, succeeded, retried, deadLettered, expired }: Stats): Counts {
  return { fired, succeeded, retried, dead_lettered: deadLettered, expired };
}
