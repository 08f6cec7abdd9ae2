/** The filter of a bulk replay in words. */

import type { DeliveryQuery } from '#src/control/http/data-contract.ts';
import { DELIVERY_BADGES } from './badge.tsx';
import { IdLink } from './copy.tsx';
import { Instant } from './instant.tsx';

export function FilterText({ query }: { readonly query: DeliveryQuery }) {
  const { status, schedule_id: scheduleId, created_after: after, created_before: before } = query;
  return (
    <>
      {status === undefined ? null : <>with status “{DELIVERY_BADGES[status]?.label ?? status}”</>}
      {scheduleId === undefined ? null : (
        <>
          {' '}
          of schedule <IdLink page="schedules" id={scheduleId} />
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
