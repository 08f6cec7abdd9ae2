/** The schedules of a project and mode, with a search by id, label and destination. */

import { useEffect, useState } from 'preact/hooks';
import type { Schedule } from '../../../sdk/src/api-types.ts';
import type { ScheduleSearchPage } from '../../../src/control/http/data-contract.ts';
import { SCHEDULE_BADGES, StateBadge } from '../components/badge.tsx';
import { Button, ButtonLink } from '../components/button.tsx';
import { EmptyState } from '../components/empty-state.tsx';
import { SelectField, TextField } from '../components/field.tsx';
import { FirstScheduleHelp } from '../components/first-schedule.tsx';
import { Instant, Relative } from '../components/instant.tsx';
import { Labels } from '../components/labels.tsx';
import { Card, Loaded, Page } from '../components/page.tsx';
import { Pager } from '../components/pager.tsx';
import { TableSkeleton } from '../components/skeleton.tsx';
import { SubjectLink } from '../components/subject.tsx';
import { type Column, Table } from '../components/table.tsx';
import { TimingText } from '../components/timing-text.tsx';
import { formatCount, plural, truncateMiddle } from '../format.ts';
import { useLive } from '../live.ts';
import {
  pathWithQuery,
  readScheduleFilter,
  type ScheduleFilter,
  SEARCH_CHARACTERS_MAX,
  writeScheduleFilter,
} from '../model/filters.ts';
import { SCHEDULE_STATES } from '../model/status.ts';
import { query, setQuery } from '../router.ts';
import { apiPath, hasRole, hrefInProject } from '../session.ts';

export function SchedulesPage() {
  const filter = readScheduleFilter(query.value);
  const search = writeScheduleFilter(filter);
  const cursor = query.value.get('cursor');
  if (cursor !== null) search.set('cursor', cursor);
  const live = useLive<ScheduleSearchPage<Schedule>>(apiPath(pathWithQuery('search/schedules', search)));
  return (
    <Page
      title="Schedules"
      actions={
        hasRole('operator') ? (
          <ButtonLink kind="primary" icon="plus" href={hrefInProject('schedules/new')}>
            New schedule
          </ButtonLink>
        ) : undefined
      }
    >
      <Filters filter={filter} />
      <Card isFlush>
        <Loaded live={live} skeleton={<TableSkeleton label="Loading schedules" />}>
          {(page) => <ScheduleResults page={page} filter={filter} />}
        </Loaded>
      </Card>
    </Page>
  );
}

const SEARCH_WAIT_MS = 300;

const STATE_OPTIONS = [
  { value: '', label: 'Any state' },
  ...SCHEDULE_STATES.map((state) => ({ value: state, label: SCHEDULE_BADGES[state]?.label ?? state })),
];
const KIND_OPTIONS = [
  { value: '', label: 'Any kind' },
  { value: 'one_shot', label: 'One-shot' },
  { value: 'recurring', label: 'Recurring' },
];

function Filters({ filter }: { readonly filter: ScheduleFilter }) {
  const [text, setText] = useState(filter.q);
  useEffect(() => setText(filter.q), [filter.q]);
  useEffect(() => {
    if (text.trim() === filter.q) return undefined;
    const timer = setTimeout(() => setQuery({ q: text.trim(), cursor: null }), SEARCH_WAIT_MS);
    return () => clearTimeout(timer);
  }, [text, filter.q]);
  return (
    <search class="mb-3 grid gap-2 sm:grid-cols-[1fr_auto_auto]">
      <TextField
        type="search"
        label="Search schedules"
        isLabelHidden
        placeholder="Id, team=billing, or part of a name or URL"
        value={text}
        onValue={setText}
        maxLength={SEARCH_CHARACTERS_MAX}
        autocomplete="off"
      />
      <SelectField
        label="State"
        isLabelHidden
        value={filter.state ?? ''}
        options={STATE_OPTIONS}
        onValue={(state) => setQuery({ state, cursor: null })}
      />
      <SelectField
        label="Kind"
        isLabelHidden
        value={filter.kind ?? ''}
        options={KIND_OPTIONS}
        onValue={(kind) => setQuery({ kind, cursor: null })}
      />
    </search>
  );
}

const COLUMNS: readonly Column<Schedule>[] = [
  {
    heading: 'Schedule',
    isRowHeading: true,
    className: 'lg:min-w-72',
    cell: (schedule) => (
      <SubjectLink
        subject={{ ...schedule, url: schedule.endpoint }}
        page={`schedules/${schedule.id}`}
        note={truncateMiddle(schedule.id, 20)}
      />
    ),
  },
  { heading: 'State', cell: (schedule) => <StateBadge state={schedule.state} badges={SCHEDULE_BADGES} /> },
  { heading: 'Fires', cell: (schedule) => <TimingText schedule={schedule} /> },
  {
    heading: 'Next run',
    cell: ({ next_fire_at: at, timezone }) =>
      at === null ? (
        <span class="text-dim">–</span>
      ) : (
        <div>
          <Relative at={at} />
          <div class="text-sm text-dim">
            <Instant at={at} zone={timezone} style="minute" />
          </div>
        </div>
      ),
  },
  { heading: 'Metadata', cell: (schedule) => <Labels labels={schedule.metadata} /> },
];

function ScheduleResults({
  page,
  filter,
}: {
  readonly page: ScheduleSearchPage<Schedule>;
  readonly filter: ScheduleFilter;
}) {
  if (page.data.length > 0) {
    return (
      <>
        <Table caption="Schedules" columns={COLUMNS} rows={page.data} rowKey={(schedule) => schedule.id} />
        {filter.q === '' || page.next_cursor === null ? null : (
          <p class="px-4 py-2 text-sm text-dim">
            {formatCount(page.data.length)} of the {plural(page.scanned, 'schedule')} searched so far.
          </p>
        )}
        <Pager nextCursor={page.next_cursor} />
      </>
    );
  }
  if (page.next_cursor !== null) {
    return (
      <EmptyState icon="search" title={`No match in the newest ${plural(page.scanned, 'schedule')}`}>
        <p>A search reads a limited number of schedules at a time. Continue with older ones.</p>
        <Button kind="primary" onClick={() => setQuery({ cursor: page.next_cursor }, {})}>
          Continue
        </Button>
      </EmptyState>
    );
  }
  if (filter.q !== '' || filter.state !== null || filter.kind !== null || query.value.has('cursor')) {
    return (
      <EmptyState icon="search" title="No schedule matches the filters">
        <p>
          Search for an id (<code class="font-mono">sch_…</code>), a label (
          <code class="font-mono">team=billing</code>) or a part of the destination.
        </p>
        <Button onClick={() => setQuery({ q: null, state: null, kind: null, cursor: null })}>
          Clear filters
        </Button>
      </EmptyState>
    );
  }
  return <FirstScheduleHelp />;
}
