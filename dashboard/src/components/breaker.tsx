/** The breaker of an endpoint, and closing it by hand. */
import { useState } from 'preact/hooks';
import type { Done } from '../../../src/control/http/contract.ts';
import type { Destination } from '../../../src/control/http/data-contract.ts';
import { post } from '../api.ts';
import { plural } from '../format.ts';
import { refreshLive } from '../live.ts';
import { inProject, may } from '../session.ts';
import { BREAKER_LOOKS, StateBadge } from './badge.tsx';
import { Button } from './button.tsx';
import { Confirm } from './dialog.tsx';
import { Relative } from './instant.tsx';
import { toast } from './toast.tsx';

export type Breaker = Destination<unknown>['breaker'];

export function BreakerState({ breaker }: { readonly breaker: Breaker }) {
  return (
    <div>
      <StateBadge state={breaker.state} looks={BREAKER_LOOKS} />
      {breaker.state === 'open' && breaker.open_until !== null ? (
        <div class="text-sm text-dim">
          tries again <Relative at={breaker.open_until} />
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
  const [isAsking, setAsking] = useState(false);
  if (breaker.state === 'closed' || !may('operator')) return null;
  const close = async () => {
    await post<Done>(inProject('destinations/close-breaker'), { endpoint });
    toast('good', 'The breaker is being closed.');
    await refreshLive();
  };
  return (
    <>
      <Button onClick={() => setAsking(true)}>Close breaker…</Button>
      {isAsking ? (
        <Confirm
          title="Close this breaker"
          action="Close breaker"
          onConfirm={close}
          onClose={() => setAsking(false)}
        >
          <p>
            Deliveries to <code class="font-mono text-sm">{url}</code> that wait for the breaker go out again
            at once, at the pace of the endpoint’s limits.
          </p>
          <p class="text-dim">
            Do it when you know that the receiver is well again. If it still fails, the breaker opens again by
            itself.
          </p>
        </Confirm>
      ) : null}
    </>
  );
}
