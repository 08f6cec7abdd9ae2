/** What a bulk replay is about, in words. */
import type { DeliveryQuery } from '../../../src/control/http/contract.ts';
import { toPage } from '../session.ts';
import { DELIVERY_LOOKS } from './badge.tsx';
import { Instant } from './instant.tsx';

export function FilterWords({ query }: { readonly query: DeliveryQuery }) {
  const { status, schedule_id: scheduleId, created_after: after, created_before: before } = query;
  return (
    <>
      {status === undefined ? null : <>with the status “{DELIVERY_LOOKS[status]?.word ?? status}”</>}
      {scheduleId === undefined ? null : (
        <>
          {' '}
          of the schedule{' '}
          <a class="link font-mono text-sm" href={toPage(`schedules/${scheduleId}`)}>
            {scheduleId}
          </a>
        </>
      )}
      {after === undefined ? null : (
        <>
          , created after <Instant at={after} />
        </>
      )}
      {before === undefined ? null : (
        <>
          {after === undefined ? ', created' : ' and'} before <Instant at={before} />
        </>
      )}
    </>
  );
}
