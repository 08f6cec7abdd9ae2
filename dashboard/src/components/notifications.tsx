/** The page of a delivery says who is told how it ended, or whose end it tells. */
import type { Delivery, Notify } from '../../../sdk/src/api-types.ts';
import type { Listed } from '../../../src/control/http/contract.ts';
import { useLive } from '../live.ts';
import { apiPath } from '../session.ts';
import { DELIVERY_BADGES, StateBadge } from './badge.tsx';
import { IdLink } from './copy.tsx';
import { NotifyText } from './notify.tsx';
import { Card } from './page.tsx';
import { SubjectLink } from './subject.tsx';

/** The notifications of a delivery, which replays repeat. */
export function Notifications({
  delivery: { id, finalized_at: endedAt },
  notify,
}: {
  readonly delivery: Delivery;
  readonly notify: Notify;
}) {
  const live = useLive<Listed<Delivery>>(apiPath(`deliveries?notification_of=${id}`));
  const sent = live.data?.data ?? [];
  return (
    <Card title="Notifications">
      <p>
        Tells <NotifyText notify={notify} />
      </p>
      {sent.length > 0 ? (
        <ul class="mt-2 space-y-1.5">
          {sent.map((one) => (
            <li key={one.id} class="flex flex-wrap items-center gap-x-2">
              <StateBadge state={one.status} badges={DELIVERY_BADGES} />
              <IdLink page="deliveries" id={one.id} isShort />
              {one.replay_of === null ? null : <span class="text-sm text-dim">replay</span>}
            </li>
          ))}
        </ul>
      ) : (
        <p class="mt-2 text-dim">
          {endedAt === null
            ? 'The notification is sent when the delivery ends.'
            : 'There is no notification.'}
        </p>
      )}
    </Card>
  );
}

/** The delivery whose end a notification tells. Retention may have removed it. */
export function NotificationOf({ id }: { readonly id: string }) {
  const { data } = useLive<Delivery>(apiPath(`deliveries/${id}`));
  return (
    <Card title="Notification of">
      {data === null ? (
        <IdLink page="deliveries" id={id} />
      ) : (
        <div class="flex flex-wrap items-start justify-between gap-2">
          <SubjectLink
            subject={{ ...data, name: null }}
            page={`deliveries/${id}`}
            note={id}
            charactersMax={60}
          />
          <StateBadge state={data.status} badges={DELIVERY_BADGES} />
        </div>
      )}
      <p class="mt-2 text-sm text-dim">
        It belongs to no schedule. Pausing or canceling the schedule of the delivery does not reach it.
      </p>
    </Card>
  );
}
