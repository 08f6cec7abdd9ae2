/** All runs that are due in a window, by endpoint and time. It shows the minutes in which too much is due. */

import { useEffect, useState } from 'preact/hooks';
import type { Upcoming } from '../../../src/control/http/data-contract.ts';
import { Badge } from '../components/badge.tsx';
import { ButtonLink } from '../components/button.tsx';
import { Choice } from '../components/choice.tsx';
import { IdLink } from '../components/copy.tsx';
import { EmptyState } from '../components/empty-state.tsx';
import { TextField } from '../components/field.tsx';
import { HeatTable, isLongerThanADay } from '../components/heat-table.tsx';
import { Icon } from '../components/icon.tsx';
import { Instant, Relative } from '../components/instant.tsx';
import { Card, Loaded, Page } from '../components/page.tsx';
import { Skeleton, TableSkeleton } from '../components/skeleton.tsx';
import { SubjectLink } from '../components/subject.tsx';
import { type Column, Table } from '../components/table.tsx';
import { CronText } from '../components/timing-text.tsx';
import { formatCount, formatMs, plural, truncateMiddle } from '../format.ts';
import { useLive } from '../live.ts';
import { pathWithQuery } from '../model/filters.ts';
import {
  type Heat,
  heatOf,
  readWindow,
  type UpcomingWindow,
  WINDOW_MAX_MS,
  WINDOWS,
  windowQuery,
  writeWindow,
} from '../model/upcoming-window.ts';
import { toInstant, toWallTime } from '../model/wall-clock.ts';
import { query, setQuery } from '../router.ts';
import { apiPath, hrefInProject } from '../session.ts';
import { currentMinute, displayZone, formatInstant } from '../time.ts';
import { useIsNarrow } from '../use-width.ts';

const WINDOW_LABELS: Readonly<Record<string, string>> = {
  '15m': '15 min',
  '1h': '1 h',
  '6h': '6 h',
  '24h': '24 h',
  '7d': '7 d',
};
const COLUMNS_WIDE_MAX = 120;
const COLUMNS_NARROW_MAX = 24;
const RUNS_SHOWN = 100;

export function UpcomingPage() {
  const window = readWindow(query.value);
  const live = useLive<Upcoming>(
    apiPath(pathWithQuery('upcoming', windowQuery(window, currentMinute.value))),
  );
  return (
    <Page title="Upcoming" lead="Runs that are due, including those of recurring schedules.">
      <WindowPicker window={window} />
      <Loaded live={live} skeleton={<UpcomingSkeleton />}>
        {(upcoming) => <UpcomingView upcoming={upcoming} />}
      </Loaded>
    </Page>
  );
}

function choose(window: UpcomingWindow): void {
  const written = writeWindow(window);
  setQuery(Object.fromEntries(['window', 'from', 'until'].map((name) => [name, written.get(name)])));
}

function WindowPicker({ window }: { readonly window: UpcomingWindow }) {
  const zone = displayZone.value;
  const [draft, setDraft] = useState<{ readonly from: string; readonly until: string } | null>(
    window.kind === 'fixed'
      ? { from: toWallTime(window.from, zone), until: toWallTime(window.until, zone) }
      : null,
  );
  // A preset follows a visit of the page without a window, or going back.
  useEffect(() => {
    if (window.kind === 'preset') setDraft(null);
  }, [window.kind]);
  const change = (next: { readonly from: string; readonly until: string }) => {
    setDraft(next);
    const [from, until] = [toInstant(next.from, zone), toInstant(next.until, zone)];
    if (from !== null && until !== null && windowError(from, until) === null)
      choose({ kind: 'fixed', from, until });
  };
  const begin = () => {
    const current = windowQuery(window, currentMinute.value);
    setDraft({ from: toWallTime(current.get('from'), zone), until: toWallTime(current.get('until'), zone) });
  };
  const error =
    draft === null ? null : windowError(toInstant(draft.from, zone), toInstant(draft.until, zone));
  return (
    <div class="mb-3 space-y-2">
      <Choice
        label="Window"
        value={draft !== null ? 'custom' : window.kind === 'preset' ? window.name : 'custom'}
        options={[
          ...WINDOWS.map((name) => ({ value: name as string, label: WINDOW_LABELS[name] ?? name })),
          { value: 'custom', label: 'Custom' },
        ]}
        onValue={(value) => {
          const name = WINDOWS.find((known) => known === value);
          if (name === undefined) begin();
          else {
            setDraft(null);
            choose({ kind: 'preset', name });
          }
        }}
      />
      {draft === null ? null : (
        <div class="flex flex-wrap items-start gap-2">
          <TextField
            type="datetime-local"
            label={`From (${zone})`}
            value={draft.from}
            onValue={(from) => change({ ...draft, from })}
          />
          <TextField
            type="datetime-local"
            label={`Until (${zone})`}
            value={draft.until}
            error={error}
            onValue={(until) => change({ ...draft, until })}
          />
        </div>
      )}
    </div>
  );
}

function windowError(from: string | null, until: string | null): string | null {
  if (from === null || until === null) return 'Enter both times.';
  const length = Date.parse(until) - Date.parse(from);
  if (length <= 0) return 'The end must be after the start.';
  return length > WINDOW_MAX_MS ? 'The window is limited to 7 days.' : null;
}

function UpcomingSkeleton() {
  return (
    <div class="space-y-4">
      <Skeleton height={240} />
      <TableSkeleton label="Loading runs" />
    </div>
  );
}

function UpcomingView({ upcoming }: { readonly upcoming: Upcoming }) {
  const isNarrow = useIsNarrow();
  if (upcoming.total === 0) {
    return (
      <Card>
        <EmptyState icon="clock" title="No runs in this window">
          <p>Choose a longer window, or check which schedules are active.</p>
          <ButtonLink href={`${hrefInProject('schedules')}?state=active`}>Active schedules</ButtonLink>
        </EmptyState>
      </Card>
    );
  }
  const heat = heatOf(upcoming, isNarrow ? COLUMNS_NARROW_MAX : COLUMNS_WIDE_MAX);
  return (
    <div class="space-y-4">
      <Card isFlush>
        <div class="flex flex-wrap items-baseline justify-between gap-2 px-4 pt-3 pb-2">
          <h2 class="font-semibold">
            {upcoming.is_complete ? '' : 'At least '}
            {plural(upcoming.total, 'run')}, {formatMs(heat.stepMs)} per column
          </h2>
          <Busiest heat={heat} />
        </div>
        <HeatTable heat={heat} />
      </Card>
      {upcoming.is_complete ? null : (
        <p class="card flex items-start gap-2 px-4 py-3 text-warn">
          <Icon name="warning" className="mt-0.5" />
          There are too many runs to count. Choose a shorter window to see all of them.
        </p>
      )}
      <Runs upcoming={upcoming} />
    </div>
  );
}

function Busiest({ heat }: { readonly heat: Heat }) {
  const zone = displayZone.value;
  const style = isLongerThanADay(heat) ? 'minute' : 'time';
  if (heat.busiest.size === 0) return <p class="text-sm text-dim">The runs are spread evenly.</p>;
  return (
    <p class="flex flex-wrap items-center gap-1.5 text-sm text-dim">
      Busiest:
      {[...heat.busiest].map((column) => (
        <Badge key={column} tone="neutral" icon="chevron">
          {`${formatInstant(heat.starts[column] ?? 0, zone, style)}, ${plural(heat.totals[column] ?? 0, 'run')}`}
        </Badge>
      ))}
    </p>
  );
}

type ComingRun = Upcoming['runs'][number];

const COLUMNS: readonly Column<ComingRun>[] = [
  {
    heading: 'Due',
    isRowHeading: true,
    cell: (run) => (
      <div>
        <Instant at={run.at} zone={run.timezone} />
        <div class="text-sm text-dim">
          <Relative at={run.at} />
        </div>
      </div>
    ),
  },
  {
    heading: 'Schedule',
    cell: (run) => (
      <SubjectLink
        subject={{ ...run, name: run.schedule_name }}
        page={run.schedule_id === null ? `deliveries/${run.delivery_id}` : `schedules/${run.schedule_id}`}
        note={run.schedule_id === null ? 'notification' : truncateMiddle(run.schedule_id, 20)}
        charactersMax={44}
      />
    ),
  },
  {
    heading: 'Fires',
    cell: (run) =>
      run.is_retry ? (
        <Badge tone="warn" icon="retry">
          Retry
        </Badge>
      ) : run.cron === null ? (
        'Once'
      ) : (
        <CronText cron={run.cron} timezone={run.timezone} />
      ),
  },
  {
    heading: 'Delivery',
    cell: ({ delivery_id: id }) =>
      id === null ? <span class="text-dim">–</span> : <IdLink page="deliveries" id={id} isShort />,
  },
];

function Runs({ upcoming }: { readonly upcoming: Upcoming }) {
  const shown = upcoming.runs.slice(0, RUNS_SHOWN);
  return (
    <Card title="Runs in order" isFlush>
      <Table
        caption="Runs, soonest first"
        columns={COLUMNS}
        rows={shown}
        rowKey={(run) => `${run.at} ${run.schedule_id} ${run.delivery_id}`}
      />
      {shown.length < upcoming.total ? (
        <p class="px-4 py-2 text-sm text-dim">
          The first {formatCount(shown.length)} of {formatCount(upcoming.total)} runs.
        </p>
      ) : null}
    </Card>
  );
}
