/** How much of what was sent in 24 hours arrived: a bar and the figure. */
import type { Counts } from '../../../src/control/http/data-contract.ts';
import { count, percent } from '../format.ts';

export function SuccessRate({ counts }: { readonly counts: Counts }) {
  const ended = counts.succeeded + counts.dead_lettered + counts.expired;
  if (ended === 0) return <span class="text-dim">nothing ended</span>;
  const share = (part: number) => `${(part / ended) * 100}%`;
  return (
    <div class="w-36">
      <div class="text-sm tabular-nums">
        {percent(counts.succeeded, ended)} <span class="text-dim">of {count(ended)}</span>
      </div>
      <div aria-hidden="true" class="mt-1 flex h-1.5 overflow-hidden rounded-full bg-sunken">
        <div class="bg-chart-good" style={{ width: share(counts.succeeded) }} />
        <div class="bg-chart-bad" style={{ width: share(counts.dead_lettered + counts.expired) }} />
      </div>
    </div>
  );
}
