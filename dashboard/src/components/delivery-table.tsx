/** A table of deliveries. Screen readers hear of new ones. */
import { useEffect, useRef } from 'preact/hooks';
import type { Delivery as ApiDelivery } from '../../../sdk/src/api-types.ts';
import type { Listed } from '../../../src/control/http/contract.ts';
import type { DeliveryWithFailure } from '../../../src/control/http/data-contract.ts';
import { plural } from '../format.ts';
import { DELIVERY_BADGES, StateBadge } from './badge.tsx';
import { IdLink, TruncatedText } from './copy.tsx';
import { Instant, Relative } from './instant.tsx';
import { type Column, Table } from './table.tsx';
import { announce } from './toast.tsx';

type Delivery = DeliveryWithFailure<ApiDelivery>;
export type DeliveryList = Listed<Delivery>;

const DELIVERY: Column<Delivery> = {
  heading: 'Delivery',
  isRowHeading: true,
  cell: (delivery) => <IdLink page="deliveries" id={delivery.id} isShort />,
};

const WITH_DESTINATION: Column<Delivery> = {
  ...DELIVERY,
  cell: (delivery) => (
    <div>
      {DELIVERY.cell(delivery)}
      <div class="text-sm text-dim">
        <TruncatedText text={delivery.url} charactersMax={44} />
      </div>
    </div>
  ),
};

const STATUS: Column<Delivery> = {
  heading: 'Status',
  cell: (delivery) => <StateBadge state={delivery.status} badges={DELIVERY_BADGES} />,
};

const SCHEDULE: Column<Delivery> = {
  heading: 'Schedule',
  cell: ({ schedule_id: id }) =>
    id === null ? <span class="text-dim">removed</span> : <IdLink page="schedules" id={id} isShort />,
};

const DUE: Column<Delivery> = {
  heading: 'Due',
  cell: (delivery) => (
    <div>
      <Instant at={delivery.scheduled_for} />
      <div class="text-sm text-dim">
        {delivery.next_fire_at !== null && delivery.status === 'retry_scheduled' ? (
          <>
            retry <Relative at={delivery.next_fire_at} />
          </>
        ) : isDeferred(delivery) ? (
          <>
            deferred, attempt <Relative at={delivery.next_fire_at ?? delivery.scheduled_for} />
          </>
        ) : (
          <Relative at={delivery.scheduled_for} />
        )}
      </div>
    </div>
  ),
};

/** Whether the gate delays the first attempt. */
function isDeferred({ status, scheduled_for: due, next_fire_at: next }: Delivery): boolean {
  return status === 'scheduled' && next !== null && Date.parse(next) > Date.parse(due);
}

const ATTEMPTS: Column<Delivery> = {
  heading: 'Attempts',
  isFigure: true,
  cell: (delivery) => delivery.attempt_count,
};

const ANSWER: Column<Delivery> = {
  heading: 'Last response',
  cell: ({ last_status_code: code, error, failure_code: failure }) => {
    if (code === null && error === null) return <span class="text-dim">–</span>;
    return (
      <span>
        {code === null ? null : <span class="font-medium tabular-nums">{code} </span>}
        {error === null || failure === 'http_status' ? null : (
          <span class="text-sm text-dim">
            <TruncatedText text={error} charactersMax={44} />
          </span>
        )}
      </span>
    );
  },
};

const ALL = [WITH_DESTINATION, STATUS, DUE, ATTEMPTS, ANSWER, SCHEDULE];
const OF_ONE_SCHEDULE = [DELIVERY, STATUS, DUE, ATTEMPTS, ANSWER];

export function DeliveryTable({
  deliveries,
  caption,
  isOfOneSchedule = false,
}: {
  readonly deliveries: readonly Delivery[];
  readonly caption: string;
  readonly isOfOneSchedule?: boolean;
}) {
  useAnnounceNew(deliveries);
  return (
    <Table
      caption={caption}
      columns={isOfOneSchedule ? OF_ONE_SCHEDULE : ALL}
      rows={deliveries}
      rowKey={(delivery) => delivery.id}
    />
  );
}

/** Announces deliveries above the one that was the newest. Older ones that move up are not new. */
function useAnnounceNew(deliveries: readonly Delivery[]): void {
  const newest = useRef<string | null>(null);
  useEffect(() => {
    const before = newest.current;
    const fresh = before === null ? 0 : deliveries.findIndex((delivery) => delivery.id === before);
    if (fresh > 0) announce(plural(fresh, 'new delivery', 'new deliveries'));
    newest.current = deliveries[0]?.id ?? null;
  }, [deliveries]);
}
