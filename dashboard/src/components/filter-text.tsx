/** The filter of a bulk replay in words. */

import type { DeliveryQuery } from '#src/control/http/data-contract.ts';
import type { Schedule } from '../../../sdk/src/api-types.ts';
import { useLive } from '../live.ts';
import { apiPath } from '../session.ts';
import { DELIVERY_BADGES } from './badge.tsx';
import { IdLink } from './copy.tsx';
import { Instant } from './instant.tsx';
import { titleOf } from './subject.tsx';

export function FilterText({ query }: { readonly query: DeliveryQuery }) {
  const { status, schedule_id: scheduleId, created_after: after, created_before: before } = query;
  return (
    <>
      {status === undefined ? null : <>with status “{DELIVERY_BADGES[status]?.label ?? status}”</>}
      {scheduleId === undefined ? null : (
        <>
          {' '}
          of schedule <ScheduleName id={scheduleId} />
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

/** The id, until the name is known. */
function ScheduleName({ id }: { readonly id: string }) {
  const { data } = useLive<Schedule>(apiPath(`schedules/${id}`));
  return <IdLink page="schedules" id={id} name={data && titleOf({ ...data, url: data.endpoint })} />;
}
