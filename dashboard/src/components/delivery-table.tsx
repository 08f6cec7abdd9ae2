/** A table of deliveries. Screen readers hear of new ones. */
import { useEffect, useRef } from 'preact/hooks';
import type { Delivery as ApiDelivery } from '../../../sdk/src/api-types.ts';
import type { Listed } from '../../../src/control/http/contract.ts';
import type { ListedDelivery } from '../../../src/control/http/data-contract.ts';
import { plural, truncateMiddle } from '../format.ts';
import { DELIVERY_BADGES, StateBadge } from './badge.tsx';
import { IdLink, TruncatedText } from './copy.tsx';
import { Instant, Relative } from './instant.tsx';
import { SubjectLink } from './subject.tsx';
import { type Column, Table } from './table.tsx';
import { announce } from './toast.tsx';
import { WaitText } from './wait-text.tsx';

type Delivery = ListedDelivery<ApiDelivery>;
export type DeliveryList = Listed<Delivery>;

const DELIVERY: Column<Delivery> = {
  heading: 'Delivery',
  isRowHeading: true,
  cell: (delivery) => (
    <div>
      <IdLink page="deliveries" id={delivery.id} isShort />
      <div class="text-sm text-dim">{originOf(delivery)}</div>
    </div>
  ),
};

const WITH_SUBJECT: Column<Delivery> = {
  ...DELIVERY,
  className: 'lg:min-w-64',
  cell: (delivery) => (
    <SubjectLink
      subject={{ ...delivery, name: delivery.schedule_name }}
      page={`deliveries/${delivery.id}`}
      note={[truncateMiddle(delivery.id, 16), originOf(delivery)].filter((text) => text !== '').join(' · ')}
    />
  ),
};

/** Why it exists, if its schedule did not fire by itself. */
function originOf({ notification_of: of, replay_of: original, triggered }: ApiDelivery): string {
  const replay = original !== null ? 'replay' : triggered ? 'triggered' : '';
  return of === null ? replay : `${replay} notification`.trim();
}

const STATUS: Column<Delivery> = {
  heading: 'Status',
  cell: (delivery) => <StateBadge state={delivery.status} badges={DELIVERY_BADGES} />,
};

const DUE: Column<Delivery> = {
  heading: 'Due',
  className: 'whitespace-nowrap',
  cell: (delivery) => (
    <div>
      <Instant at={delivery.scheduled_for} />
      <div class="text-sm text-dim">
        <Relative at={delivery.scheduled_for} />
      </div>
    </div>
  ),
};

const WAITS: Column<Delivery> = {
  heading: 'Next attempt',
  cell: ({ waiting }) =>
    waiting === null ? <span class="text-dim">–</span> : <WaitText waiting={waiting} />,
};

const ENDED: Column<Delivery> = {
  heading: 'Ended',
  className: 'whitespace-nowrap',
  cell: ({ finalized_at: at }) =>
    at === null ? (
      <span class="text-dim">–</span>
    ) : (
      <div>
        <Instant at={at} />
        <div class="text-sm text-dim">
          <Relative at={at} />
        </div>
      </div>
    ),
};

const ATTEMPTS: Column<Delivery> = {
  heading: 'Attempts',
  isFigure: true,
  cell: (delivery) => delivery.attempt_count,
};

export function LastResponse({
  code,
  error,
  failure,
}: {
  readonly code: number | null;
  readonly error: string | null;
  /** True if the error says no more than the code. */
  readonly failure: boolean;
}) {
  if (code === null && error === null) return <span class="text-dim">–</span>;
  return (
    <span>
      {code === null ? null : <span class="font-medium tabular-nums">{code} </span>}
      {error === null || failure ? null : (
        <span class="text-sm text-dim">
          <TruncatedText text={error} charactersMax={44} />
        </span>
      )}
    </span>
  );
}

const ANSWER: Column<Delivery> = {
  heading: 'Last response',
  cell: ({ last_status_code: code, error, failure_code: failure }) => (
    <LastResponse code={code} error={error} failure={failure === 'http_status'} />
  ),
};

const COLUMNS = {
  waiting: [WITH_SUBJECT, STATUS, WAITS, DUE, ATTEMPTS, ANSWER],
  ended: [WITH_SUBJECT, STATUS, ENDED, DUE, ATTEMPTS, ANSWER],
  of_schedule: [DELIVERY, STATUS, DUE, WAITS, ATTEMPTS, ANSWER],
} as const;

export function DeliveryTable({
  deliveries,
  caption,
  kind,
}: {
  readonly deliveries: readonly Delivery[];
  readonly caption: string;
  readonly kind: keyof typeof COLUMNS;
}) {
  useAnnounceNew(
    deliveries.map(({ id }) => id),
    ['new delivery', 'new deliveries'],
  );
  return (
    <Table caption={caption} columns={COLUMNS[kind]} rows={deliveries} rowKey={(delivery) => delivery.id} />
  );
}

/** Announces rows above the one that was the newest. Older ones that move up are not new. */
export function useAnnounceNew(ids: readonly string[], [one, many]: readonly [string, string]): void {
  const newest = useRef<string | null>(null);
  useEffect(() => {
    const before = newest.current;
    const fresh = before === null ? 0 : ids.indexOf(before);
    if (fresh > 0) announce(plural(fresh, one, many));
    newest.current = ids[0] ?? null;
  }, [ids.join()]);
}
