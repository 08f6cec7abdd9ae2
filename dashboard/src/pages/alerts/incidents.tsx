/** The incidents: open ones first, then the newest. */
import type { AlertIncidentInfo } from '../../../../src/control/http/alert-contract.ts';
import type { Listed } from '../../../../src/control/http/contract.ts';
import { INCIDENT_BADGES, StateBadge } from '../../components/badge.tsx';
import { useAnnounceNew } from '../../components/delivery-table.tsx';
import { EmptyState } from '../../components/empty-state.tsx';
import { Instant, Relative } from '../../components/instant.tsx';
import { Card, Loaded } from '../../components/page.tsx';
import { Pager } from '../../components/pager.tsx';
import { TableSkeleton } from '../../components/skeleton.tsx';
import { type Column, Table } from '../../components/table.tsx';
import { formatCount, formatMs } from '../../format.ts';
import { useLive } from '../../live.ts';
import { inListOrder, stateOf } from '../../model/alerts.ts';
import { pathWithQuery, queryOf } from '../../model/filters.ts';
import { query } from '../../router.ts';
import { apiPath, hrefInProject } from '../../session.ts';

export const OPEN_INCIDENTS = 'alerts/incidents?state=open&limit=100';

/** The conditions and the channels are below, so the page is short. */
const PAGE_LENGTH = '10';

/** `hasConditions`: without any there is nothing to say about an empty list. */
export function Incidents({ hasConditions }: { readonly hasConditions: boolean }) {
  const cursor = query.value.get('cursor');
  const open = useLive<Listed<AlertIncidentInfo>>(apiPath(OPEN_INCIDENTS));
  const page = useLive<Listed<AlertIncidentInfo>>(
    apiPath(pathWithQuery('alerts/incidents', queryOf({ cursor, limit: PAGE_LENGTH }))),
  );
  const isEmpty = page.data?.data.length === 0;
  if (isEmpty && cursor === null && !hasConditions) return null;
  return (
    <Card title="Incidents" isFlush>
      <Loaded live={page} skeleton={<TableSkeleton label="Loading incidents" />}>
        {({ data, next_cursor }) =>
          isEmpty ? (
            <EmptyState icon="check" title="No incidents">
              <p>An incident begins when a condition becomes true.</p>
            </EmptyState>
          ) : (
            <>
              <IncidentTable incidents={cursor === null ? inListOrder(open.data?.data ?? [], data) : data} />
              <Pager nextCursor={next_cursor} />
            </>
          )
        }
      </Loaded>
    </Card>
  );
}

function IncidentTable({ incidents }: { readonly incidents: readonly AlertIncidentInfo[] }) {
  useAnnounceNew(
    incidents.map(({ id }) => id),
    ['new incident', 'new incidents'],
  );
  return (
    <Table
      caption="Incidents, open ones first, then newest first"
      columns={COLUMNS}
      rows={incidents}
      rowKey={({ id }) => id}
    />
  );
}

const COLUMNS: readonly Column<AlertIncidentInfo>[] = [
  {
    heading: 'Incident',
    isRowHeading: true,
    className: 'lg:min-w-64',
    cell: (incident) => (
      <div>
        <a class="link font-medium" href={hrefInProject(`alerts/${incident.id}`)}>
          {incident.title}
        </a>
        {incident.count === null ? null : (
          <div class="text-sm text-dim">{formatCount(incident.count)} had failed when it began</div>
        )}
      </div>
    ),
  },
  {
    heading: 'State',
    cell: (incident) => <StateBadge state={stateOf(incident)} badges={INCIDENT_BADGES} />,
  },
  {
    heading: 'Since',
    className: 'whitespace-nowrap',
    cell: ({ opened_at: at }) => <InstantAndAge at={at} />,
  },
  {
    heading: 'Until',
    className: 'whitespace-nowrap',
    cell: ({ opened_at: from, quiet_since: quiet, closed_at: until }) =>
      until !== null ? (
        <div>
          <Instant at={until} />
          <div class="text-sm text-dim">after {formatMs(Date.parse(until) - Date.parse(from))}</div>
        </div>
      ) : (
        <div>
          open
          {quiet === null ? null : (
            <div class="text-sm text-dim">
              quiet since <Relative at={quiet} />
            </div>
          )}
        </div>
      ),
  },
];

export function InstantAndAge({ at }: { readonly at: string }) {
  return (
    <div>
      <Instant at={at} />
      <div class="text-sm text-dim">
        <Relative at={at} />
      </div>
    </div>
  );
}
