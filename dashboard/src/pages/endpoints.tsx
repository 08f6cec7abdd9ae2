/** The endpoints that requests go to, with their health: endpoint profiles, and URLs of schedules without one. */

import type { Endpoint } from '../../../sdk/src/api-types.ts';
import type { Destination, Destinations } from '../../../src/control/http/data-contract.ts';
import { Badge } from '../components/badge.tsx';
import { ButtonLink } from '../components/button.tsx';
import { DestinationText } from '../components/copy.tsx';
import { EmptyState } from '../components/empty-state.tsx';
import { BreakerState, CloseBreaker, SuccessRate } from '../components/endpoint-health.tsx';
import { Checkbox } from '../components/field.tsx';
import { Card, Loaded, Page } from '../components/page.tsx';
import { Pager } from '../components/pager.tsx';
import { TableSkeleton } from '../components/skeleton.tsx';
import { SubjectLink } from '../components/subject.tsx';
import { type Column, Table } from '../components/table.tsx';
import { formatCount, truncateMiddle } from '../format.ts';
import { useLive } from '../live.ts';
import { pathWithQuery, queryOf } from '../model/filters.ts';
import { query, setQuery } from '../router.ts';
import { apiPath, hasRole, hrefInProject } from '../session.ts';

type Row = Destination<Endpoint>;

export function EndpointsPage() {
  const cursor = query.value.get('cursor');
  const hasArchived = query.value.get('archived') === 'true';
  const search = queryOf({ cursor, include_archived: hasArchived ? 'true' : null });
  const live = useLive<Destinations<Endpoint>>(apiPath(pathWithQuery('destinations', search)));
  return (
    <Page
      title="Endpoints"
      actions={
        hasRole('operator') ? (
          <ButtonLink kind="primary" icon="plus" href={hrefInProject('endpoints/new')}>
            New endpoint profile
          </ButtonLink>
        ) : undefined
      }
    >
      <div class="mb-3">
        <Checkbox
          label="Show archived"
          isChecked={hasArchived}
          onValue={(isChecked) => setQuery({ archived: isChecked ? 'true' : null, cursor: null })}
        />
      </div>
      <Loaded
        live={live}
        skeleton={
          <Card isFlush>
            <TableSkeleton label="Loading endpoints" />
          </Card>
        }
      >
        {(page) => <EndpointTables page={page} isFirst={cursor === null} />}
      </Loaded>
    </Page>
  );
}

function EndpointTables({
  page,
  isFirst,
}: {
  readonly page: Destinations<Endpoint>;
  readonly isFirst: boolean;
}) {
  const profiles = page.data.filter(({ profile }) => profile !== null);
  const inline = page.data.filter(({ profile }) => profile === null);
  return (
    <div class="space-y-4">
      <Card title="Endpoint profiles" isFlush>
        {profiles.length === 0 ? (
          <EmptyState icon="endpoints" title="No endpoint profiles yet">
            <p class="max-w-prose">
              An endpoint profile is a destination with its headers, timeout, retry policy and breaker.
              Schedules share it, and every new delivery uses its newest version.
            </p>
          </EmptyState>
        ) : (
          <Table
            caption="Endpoint profiles"
            columns={COLUMNS}
            rows={profiles}
            rowKey={({ endpoint }) => endpoint}
          />
        )}
        <Pager nextCursor={page.next_cursor} />
      </Card>
      {isFirst ? (
        <Card title="URLs without an endpoint profile" isFlush>
          {inline.length === 0 ? (
            <EmptyState icon="endpoints" title="No attempts in the last 24 hours" />
          ) : (
            <Table
              caption="URLs without an endpoint profile, last 24 hours"
              columns={COLUMNS}
              rows={inline}
              rowKey={({ endpoint }) => endpoint}
            />
          )}
        </Card>
      ) : null}
    </div>
  );
}

const COLUMNS: readonly Column<Row>[] = [
  {
    heading: 'Destination',
    isRowHeading: true,
    cell: ({ profile, url }) =>
      profile === null ? (
        <div>
          <DestinationText url={url} charactersMax={52} />
          <div>
            <a class="link text-sm" href={`${hrefInProject('schedules')}?${new URLSearchParams({ q: url })}`}>
              Schedules
            </a>
          </div>
        </div>
      ) : (
        <div>
          <SubjectLink
            subject={profile}
            page={`endpoints/${profile.id}`}
            note={truncateMiddle(profile.id, 20)}
            charactersMax={52}
          />
          {profile.archived ? <Badge tone="neutral">Archived</Badge> : null}
        </div>
      ),
  },
  { heading: 'Breaker', cell: ({ breaker }) => <BreakerState breaker={breaker} /> },
  { heading: 'Succeeded (24 h)', cell: ({ last_24h: counts }) => <SuccessRate counts={counts} /> },
  { heading: 'Attempts', isFigure: true, cell: ({ last_24h: counts }) => formatCount(counts.fired) },
  { heading: 'Retried', isFigure: true, cell: ({ last_24h: counts }) => formatCount(counts.retried) },
  {
    heading: 'Not delivered',
    isFigure: true,
    cell: ({ last_24h: counts }) => formatCount(counts.dead_lettered + counts.expired),
  },
  {
    heading: 'Actions',
    isActions: true,
    cell: (row) => <CloseBreaker endpoint={row.endpoint} url={row.url} breaker={row.breaker} />,
  },
];
