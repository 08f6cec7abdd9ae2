/** The health of an endpoint: its breaker, the button that closes it, and the share of deliveries that succeeded. */
import { useState } from 'preact/hooks';
import type { Done } from '../../../src/control/http/contract.ts';
import type { Counts, Destination } from '../../../src/control/http/data-contract.ts';
import { post } from '../api.ts';
import { formatCount, formatPercent, plural } from '../format.ts';
import { refreshLive } from '../live.ts';
import { apiPath, hasRole } from '../session.ts';
import { BREAKER_BADGES, StateBadge } from './badge.tsx';
import { Button } from './button.tsx';
import { Confirm } from './dialog.tsx';
import { Relative } from './instant.tsx';
import { toast } from './toast.tsx';

export type Breaker = Destination<unknown>['breaker'];

export function BreakerState({ breaker }: { readonly breaker: Breaker }) {
  return (
    <div>
      <StateBadge state={breaker.state} badges={BREAKER_BADGES} />
      {breaker.state === 'open' && breaker.open_until !== null ? (
        <div class="text-sm text-dim">
          next attempt <Relative at={breaker.open_until} />
        </div>
      ) : breaker.failures > 0 ? (
        <div class="text-sm text-dim">{plural(breaker.failures, 'failure')} in a row</div>
      ) : null}
    </div>
  );
}

export function CloseBreaker({
  endpoint,
  url,
  breaker,
}: {
  readonly endpoint: string;
  readonly url: string;
  readonly breaker: Breaker;
}) {
  const [isConfirming, setConfirming] = useState(false);
  if (breaker.state === 'closed' || !hasRole('operator')) return null;
  const close = async () => {
    await post<Done>(apiPath('destinations/close-breaker'), { endpoint });
    toast('good', 'The breaker closes within a second.');
    await refreshLive();
  };
  return (
    <>
      <Button onClick={() => setConfirming(true)}>Close breaker…</Button>
      {isConfirming ? (
        <Confirm
          title="Close this breaker"
          action="Close breaker"
          onConfirm={close}
          onClose={() => setConfirming(false)}
        >
          <p>
            Deferred deliveries to <code class="font-mono text-sm">{url}</code> are sent now, as fast as the
            limits of the endpoint allow.
          </p>
          <p class="text-dim">
            Close it when the receiver works again. If it still fails, the breaker opens again.
          </p>
        </Confirm>
      ) : null}
    </>
  );
}

/** The share of the deliveries of the last 24 hours that succeeded. */
export function SuccessRate({ counts }: { readonly counts: Counts }) {
  const ended = counts.succeeded + counts.dead_lettered + counts.expired;
  if (ended === 0) return <span class="text-dim">no deliveries ended</span>;
  const share = (part: number) => `${(part / ended) * 100}%`;
  return (
    <div class="w-36">
      <div class="text-sm tabular-nums">
        {formatPercent(counts.succeeded, ended)} <span class="text-dim">of {formatCount(ended)}</span>
      </div>
      <div aria-hidden="true" class="mt-1 flex h-1.5 overflow-hidden rounded-full bg-sunken">
        <div class="bg-chart-good" style={{ width: share(counts.succeeded) }} />
        <div class="bg-chart-bad" style={{ width: share(counts.dead_lettered + counts.expired) }} />
      </div>
    </div>
  );
}
