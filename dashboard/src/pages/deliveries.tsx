/** Deliveries by status, time and schedule. Dead letters and expired deliveries can be replayed in bulk. */
import { useEffect, useState } from 'preact/hooks';
import { DELIVERY_BADGES } from '../components/badge.tsx';
import { Button, ButtonLink } from '../components/button.tsx';
import { type DeliveryList, DeliveryTable } from '../components/delivery-table.tsx';
import { EmptyState } from '../components/empty-state.tsx';
import { SelectField, TextField } from '../components/field.tsx';
import { FirstScheduleHelp } from '../components/first-schedule.tsx';
import { Icon } from '../components/icon.tsx';
import { Card, Loaded, Page } from '../components/page.tsx';
import { Pager } from '../components/pager.tsx';
import { ReplayDialog } from '../components/replay-dialog.tsx';
import { TableSkeleton } from '../components/skeleton.tsx';
import { useLive } from '../live.ts';
import {
  type DeliveryFilter,
  deliveryQuery,
  NO_DELIVERY_FILTER,
  pathWithQuery,
  queryOf,
  RANGES,
  type Range,
  readDeliveryFilter,
  readScheduleId,
  writeDeliveryFilter,
} from '../model/filters.ts';
import { DELIVERY_STATUSES, isBulkReplayable } from '../model/status.ts';
import { toInstant, toWallTime } from '../model/wall-clock.ts';
import { query, setQuery } from '../router.ts';
import { apiPath, hasRole, hrefInProject } from '../session.ts';
import { currentMinute, displayZone } from '../time.ts';

const PAGE_LENGTH = '50';

export function DeliveriesPage() {
  const filter = readDeliveryFilter(query.value);
  const search = queryOf({
    ...deliveryQuery(filter, currentMinute.value),
    cursor: query.value.get('cursor'),
    limit: PAGE_LENGTH,
  });
  const live = useLive<DeliveryList>(apiPath(pathWithQuery('deliveries', search)));
  const [isConfirming, setConfirming] = useState(false);
  const canReplay =
    hasRole('operator') && isBulkReplayable(filter.status) && (live.data?.data.length ?? 0) > 0;
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
      <StatusChips filter={filter} />
      <MoreFilters filter={filter} />
      <Card isFlush>
        <Loaded live={live} skeleton={<TableSkeleton label="Loading deliveries" />}>
          {(page) => <DeliveryResults page={page} filter={filter} />}
        </Loaded>
      </Card>
      {isConfirming ? <ReplayDialog filter={filter} onClose={() => setConfirming(false)} /> : null}
    </Page>
  );
}

/** Writes every field, so that a filter that was cleared leaves the address. */
function choose(filter: DeliveryFilter): void {
  const written = writeDeliveryFilter(filter);
  const fields = ['status', 'schedule', 'range', 'after', 'before'];
  setQuery(Object.fromEntries([['cursor', null], ...fields.map((name) => [name, written.get(name)])]));
}

function StatusChips({ filter }: { readonly filter: DeliveryFilter }) {
  return (
    <fieldset class="mb-3 flex flex-wrap gap-1.5">
      <legend class="sr-only">Status</legend>
      {[null, ...DELIVERY_STATUSES].map((status) => {
        const badge = status === null ? undefined : DELIVERY_BADGES[status];
        return (
          <button
            key={status ?? 'any'}
            type="button"
            aria-pressed={filter.status === status}
            class="chip"
            onClick={() => choose({ ...filter, status })}
          >
            {badge === undefined ? null : <Icon name={badge.icon} size={12} />}
            {badge?.label ?? 'Any status'}
          </button>
        );
      })}
    </fieldset>
  );
}

const RANGE_LABELS: Readonly<Record<Range, string>> = {
  '15m': '15 minutes',
  '1h': 'hour',
  '24h': '24 hours',
  '7d': '7 days',
  '30d': '30 days',
};
const RANGE_OPTIONS = [
  { value: '', label: 'At any time' },
  ...RANGES.map((range) => ({ value: range, label: `In the last ${RANGE_LABELS[range]}` })),
  { value: 'custom', label: 'Between two times' },
];

function MoreFilters({ filter }: { readonly filter: DeliveryFilter }) {
  const zone = displayZone.value;
  const { after, before } = filter;
  const isCustom = query.value.get('range') === 'custom' || after !== null || before !== null;
  const chosen = isCustom ? 'custom' : (filter.range ?? '');
  // The range is in the address even while both times are empty, so that the fields stay visible.
  const chooseTimes = (times: Pick<DeliveryFilter, 'after' | 'before'>) => {
    choose({ ...filter, range: null, ...times });
    setQuery({ range: 'custom' });
  };
  const chooseRange = (value: string) => {
    if (value === 'custom') return chooseTimes({ after: null, before: null });
    const range = RANGES.find((known) => known === value) ?? null;
    choose({ ...filter, range, after: null, before: null });
  };
  return (
    <div class="mb-3 flex flex-wrap items-start gap-2">
      <div class="w-full sm:w-48">
        <SelectField label="Created" value={chosen} options={RANGE_OPTIONS} onValue={chooseRange} />
      </div>
      {isCustom ? (
        <>
          <TextField
            type="datetime-local"
            label={`Created after (${zone})`}
            value={toWallTime(after, zone)}
            onValue={(text) => chooseTimes({ after: toInstant(text, zone), before })}
          />
          <TextField
            type="datetime-local"
            label={`Created before (${zone})`}
            value={toWallTime(before, zone)}
            onValue={(text) => chooseTimes({ after, before: toInstant(text, zone) })}
          />
        </>
      ) : null}
      <ScheduleField filter={filter} />
    </div>
  );
}

function ScheduleField({ filter }: { readonly filter: DeliveryFilter }) {
  const [text, setText] = useState(filter.scheduleId ?? '');
  // The filter may change elsewhere: by a link, by going back, by clearing it. An id that is half typed stays.
  useEffect(() => {
    if (readScheduleId(text) !== filter.scheduleId) setText(filter.scheduleId ?? '');
  }, [filter.scheduleId]);
  const isWrong = text.trim() !== '' && readScheduleId(text) === null;
  return (
    <div class="w-full sm:w-80">
      <TextField
        type="search"
        label="Schedule id"
        isMono
        placeholder="sch_…"
        value={text}
        error={isWrong ? 'This is not a schedule id. Ids begin with sch_.' : null}
        autocomplete="off"
        onValue={(next) => {
          setText(next);
          const scheduleId = readScheduleId(next);
          if (scheduleId !== filter.scheduleId) choose({ ...filter, scheduleId });
        }}
      />
    </div>
  );
}

function DeliveryResults({ page, filter }: { readonly page: DeliveryList; readonly filter: DeliveryFilter }) {
  if (page.data.length > 0) {
    return (
      <>
        <DeliveryTable deliveries={page.data} caption="Deliveries, newest first" />
        <Pager nextCursor={page.next_cursor} />
      </>
    );
  }
  if (writeDeliveryFilter(filter).size === 0 && !query.value.has('cursor')) return <FirstScheduleHelp />;
  return (
    <EmptyState icon={filter.status === 'dead_letter' ? 'check' : 'search'} title={emptyTitle(filter)}>
      <Button onClick={() => choose(NO_DELIVERY_FILTER)}>Clear filters</Button>
    </EmptyState>
  );
}

function emptyTitle({ status }: DeliveryFilter): string {
  if (status === 'dead_letter') return 'No dead letters';
  if (status === 'retry_scheduled') return 'No delivery waits for a retry';
  return 'No delivery matches the filters';
}
