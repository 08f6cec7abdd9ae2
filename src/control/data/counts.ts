import type { Counts } from '#src/control/http/data-contract.ts';
import type { Tally } from '#src/domain/tally.ts';

export function presentCounts({ fired, succeeded, retried, deadLettered, expired }: Tally): Counts {
  return { fired, succeeded, retried, dead_lettered: deadLettered, expired };
}
