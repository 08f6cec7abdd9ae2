/** What happened last, what waits, and what ended. Dead letters and expired deliveries can be replayed in bulk. */
import { useState } from 'preact/hooks';
import type { RecentAttemptList } from '../../../sdk/src/api-types.ts';
import { AttemptList } from '../components/attempt-list.tsx';
import { OUTCOME_BADGES } from '../components/badge.tsx';
import { Button, ButtonLink } from '../components/button.tsx';
import { ChipFilter } from '../components/chip-filter.tsx';
import {
  clearFilters,
  DeliveryFilters,
  EndpointFilter,
  StatusFilter,
} from '../components/delivery-filters.tsx';
import { type DeliveryList, DeliveryTable } from '../components/delivery-table.tsx';
import { EmptyState } from '../components/empty-state.tsx';
import { FindById } from '../components/find-by-id.tsx';
import { FirstScheduleHelp } from '../components/first-schedule.tsx';
import { Card, Loaded, Page } from '../components/page.tsx';
import { Pager } from '../components/pager.tsx';
import { ReplayDialog } from '../components/replay-dialog.tsx';
import { TableSkeleton } from '../components/skeleton.tsx';
import { TabLinks } from '../components/tabs.tsx';
import { useLive } from '../live.ts';
import {
  filterOfTab,
  OUTCOMES,
  readOutcome,
  readTab,
  searchQuery,
  TAB_LABELS,
  TABS,
  type Tab,
  tabQuery,
} from '../model/delivery-tabs.ts';
import {
  type DeliveryFilter,
  NO_DELIVERY_FILTER,
  pathWithQuery,
  queryOf,
  readEndpointId,
  writeDeliveryFilter,
} from '../model/filters.ts';
import { isBulkReplayable } from '../model/status.ts';
import { query, setQuery } from '../router.ts';
import { apiPath, hasRole, hrefInProject } from '../session.ts';
import { currentMinute } from '../time.ts';

const PAGE_LENGTH = '50';

type DeliveryTab = Exclude<Tab, 'activity'>;

export function DeliveriesPage() {
  const tab = readTab(query.value);
  const [isConfirming, setConfirming] = useState(false);
  const filter = tab === 'ended' ? filterOfTab(tab, query.value) : NO_DELIVERY_FILTER;
  // A bulk replay knows no endpoint profile, and would replay more than the list shows.
  const canReplay = hasRole('operator') && isBulkReplayable(filter.status) && filter.endpointId === null;
  return (
    <Page
      title="Deliveries"
      actions={
        <>
          <ButtonLink kind="quiet" href={hrefInProject('replays')}>
            Bulk replays
          </ButtonLink>
          {canReplay ? (
            <Button icon="retry" onClick={() => setConfirming(true)}>
              {filter.status === 'expired' ? 'Replay expired…' : 'Replay dead letters…'}
            </Button>
          ) : null}
        </>
      }
    >
      <TabLinks
        label="Deliveries"
        tabs={TABS.map((each) => ({
          href: pathWithQuery(hrefInProject('deliveries'), tabQuery(each, query.value)),
          label: TAB_LABELS[each],
          isCurrent: each === tab,
        }))}
      />
      {tab === 'activity' ? <Activity /> : <Deliveries key={tab} tab={tab} />}
      {isConfirming ? <ReplayDialog filter={filter} onClose={() => setConfirming(false)} /> : null}
    </Page>
  );
}

const OUTCOME_CHIPS = OUTCOMES.map((outcome) => ({ value: outcome, badge: OUTCOME_BADGES[outcome] }));

function Activity() {
  const outcome = readOutcome(query.value);
  const endpoint = readEndpointId(query.value.get('endpoint'));
  const cursor = query.value.get('cursor');
  const search = queryOf({ outcome, endpoint_id: endpoint, cursor, limit: PAGE_LENGTH });
  const live = useLive<RecentAttemptList>(apiPath(pathWithQuery('attempts', search)));
  const isFiltered = outcome !== null || endpoint !== null || cursor !== null;
  return (
    <>
      <ChipFilter
        label="Outcome"
        any="Any outcome"
        options={OUTCOME_CHIPS}
        value={outcome}
        onValue={(next) => setQuery({ outcome: next, cursor: null })}
      />
      <div class="mb-3 flex flex-wrap items-start gap-2">
        <EndpointFilter value={endpoint} onValue={(next) => setQuery({ endpoint: next, cursor: null })} />
        <FindById />
      </div>
      <Card isFlush>
        <Loaded live={live} skeleton={<TableSkeleton label="Loading attempts" />}>
          {({ data, next_cursor }) =>
            data.length > 0 ? (
              <>
                <AttemptList attempts={data} />
                <Pager nextCursor={next_cursor} />
              </>
            ) : isFiltered ? (
              <EmptyState icon="search" title="No attempt matches the filters">
                <Button onClick={() => setQuery({ outcome: null, endpoint: null, cursor: null })}>
                  Clear filters
                </Button>
              </EmptyState>
            ) : (
              <NothingSent />
            )
          }
        </Loaded>
      </Card>
    </>
  );
}

/** Explains how to begin only where nothing waits either. */
function NothingSent() {
  const live = useLive<DeliveryList>(apiPath('search/deliveries?limit=1'));
  if (live.data === null) return <TableSkeleton label="Loading attempts" />;
  if (live.data.data.length === 0) return <FirstScheduleHelp />;
  return (
    <EmptyState icon="clock" title="Nothing was sent yet">
      <ButtonLink href={`${hrefInProject('deliveries')}?tab=waiting`}>See what waits</ButtonLink>
    </EmptyState>
  );
}

function Deliveries({ tab }: { readonly tab: DeliveryTab }) {
  const filter = filterOfTab(tab, query.value);
  const search = queryOf({
    ...searchQuery(tab, filter, currentMinute.value),
    cursor: query.value.get('cursor'),
    limit: PAGE_LENGTH,
  });
  const live = useLive<DeliveryList>(apiPath(pathWithQuery('search/deliveries', search)));
  return (
    <>
      <StatusFilter tab={tab} filter={filter} />
      <div class="mb-3 flex flex-wrap items-start gap-2">
        <DeliveryFilters filter={filter} />
        <FindById />
      </div>
      <Card isFlush>
        <Loaded live={live} skeleton={<TableSkeleton label="Loading deliveries" />}>
          {(page) => <DeliveryResults tab={tab} page={page} filter={filter} />}
        </Loaded>
      </Card>
    </>
  );
}

function DeliveryResults({
  tab,
  page,
  filter,
}: {
  readonly tab: DeliveryTab;
  readonly page: DeliveryList;
  readonly filter: DeliveryFilter;
}) {
  const isFiltered = writeDeliveryFilter(filter).size > 0;
  if (page.data.length > 0) {
    const order = tab === 'waiting' && !isFiltered ? 'in flight first, then soonest first' : 'newest first';
    return (
      <>
        <DeliveryTable deliveries={page.data} kind={tab} caption={`${CAPTIONS[tab]}, ${order}`} />
        <Pager nextCursor={page.next_cursor} />
      </>
    );
  }
  const { icon, title } = emptyOf(tab, filter);
  return (
    <EmptyState icon={icon} title={title}>
      {isFiltered || query.value.has('cursor') ? (
        <Button onClick={clearFilters}>Clear filters</Button>
      ) : tab === 'waiting' ? (
        <p>Deliveries appear here from their creation until they have ended.</p>
      ) : (
        <p>Deliveries appear here when they have succeeded or failed for good.</p>
      )}
    </EmptyState>
  );
}

const CAPTIONS: Readonly<Record<DeliveryTab, string>> = {
  waiting: 'Waiting deliveries',
  ended: 'Ended deliveries',
};

function emptyOf(tab: DeliveryTab, filter: DeliveryFilter) {
  const { status } = filter;
  if (status === 'dead_letter') return { icon: 'check', title: 'No dead letters' } as const;
  if (status === 'retry_scheduled') return { icon: 'check', title: 'No delivery waits for a retry' } as const;
  if (writeDeliveryFilter(filter).size > 0)
    return { icon: 'search', title: 'No delivery matches the filters' } as const;
  return {
    icon: 'deliveries',
    title: tab === 'waiting' ? 'Nothing waits' : 'Nothing has ended yet',
  } as const;
}
