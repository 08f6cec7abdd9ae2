/** Why a delivery waits, and until when. */
import type { WaitInfo } from '../../../src/control/http/data-contract.ts';
import { Relative } from './instant.tsx';

export function WaitText({ waiting }: { readonly waiting: WaitInfo }) {
  const { until, words } = waiting;
  return (
    <div>
      {until === null ? null : <Relative at={until} />}
      <div class={until === null ? '' : 'text-sm text-dim'}>{words}</div>
    </div>
  );
}
