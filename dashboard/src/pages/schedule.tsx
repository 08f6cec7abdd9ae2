/** One schedule: its fields, its next runs, its calendar and its deliveries. */

import type { Schedule } from '../../../sdk/src/api-types.ts';
import type { Calendar, PreviewRun } from '../../../src/control/http/data-contract.ts';
import { SCHEDULE_BADGES, StateBadge } from '../components/badge.tsx';
import { ButtonLink } from '../components/button.tsx';
import { DestinationText, IdLink, TruncatedText } from '../components/copy.tsx';
import { type DeliveryList, DeliveryTable } from '../components/delivery-table.tsx';
import { EmptyState } from '../components/empty-state.tsx';
import { Instant } from '../components/instant.tsx';
import { Labels } from '../components/labels.tsx';
import { MonthCalendar } from '../components/month-calendar.tsx';
import { NotifyText } from '../components/notify.tsx';
import { Card, DetailList, Loaded, Page } from '../components/page.tsx';
import { PayloadCard } from '../components/payload-card.tsx';
import { ClockChanges, RunsList } from '../components/runs-list.tsx';
import { ScheduleActions } from '../components/schedule-actions.tsx';
import { Skeleton, TableSkeleton } from '../components/skeleton.tsx';
import { titleOf } from '../components/subject.tsx';
import { TimingText } from '../components/timing-text.tsx';
import { useLive } from '../live.ts';
import { dateIn, isMonth, monthOf, offsetAt, windowOf } from '../model/calendar-month.ts';
import { describeRetries } from '../model/describe-policy.ts';
import { pathWithQuery, queryOf } from '../model/filters.ts';
import { LABELS_MAX } from '../model/pairs.ts';
import { type Params, query, setQuery } from '../router.ts';
import { apiPath, hasRole, hrefInProject } from '../session.ts';
import { displayZone } from '../time.ts';
import { usePreview } from '../use-preview.ts';

export function SchedulePage({ params }: { readonly params: Params }) {
  const id = encodeURIComponent(params.id ?? '');
  const live = useLive<Schedule>(apiPath(`schedules/${id}`));
  const schedule = live.data;
  return (
    <Page
      title="Schedule"
      subject={schedule && titleOf({ ...schedule, url: schedule.endpoint })}
      parent={['schedules', 'Schedules']}
      badge={schedule === null ? undefined : <StateBadge state={schedule.state} badges={SCHEDULE_BADGES} />}
      id={params.id}
      actions={schedule !== null && hasRole('operator') ? <ScheduleActions schedule={schedule} /> : undefined}
    >
      <Loaded live={live} skeleton={<ScheduleSkeleton />}>
        {(loaded) => (
          <div class="space-y-4">
            <div class="grid items-start gap-4 lg:grid-cols-[1fr_22rem]">
              <ScheduleDetails schedule={loaded} />
              <NextRuns schedule={loaded} />
            </div>
            <CalendarCard schedule={loaded} />
            <Deliveries schedule={loaded} />
            <PayloadCard
              title="Payload"
              path={`schedules/${loaded.id}`}
              headerNames={loaded.header_keys}
              hasBody
            />
          </div>
        )}
      </Loaded>
    </Page>
  );
}

function ScheduleSkeleton() {
  return (
    <div class="space-y-4" role="status" aria-label="Loading the schedule">
      <Skeleton height={220} />
      <Skeleton height={320} />
    </div>
  );
}

function ScheduleDetails({ schedule }: { readonly schedule: Schedule }) {
  return (
    <Card title="Details">
      <DetailList
        items={[
          schedule.name === null
            ? null
            : [
                'Name',
                <span key="name" class="wrap-anywhere">
                  <TruncatedText text={schedule.name} charactersMax={255} canCopy />
                </span>,
              ],
          [
            'Destination',
            <DestinationText
              key="to"
              url={schedule.endpoint}
              method={schedule.method}
              charactersMax={90}
              canCopy
            />,
          ],
          schedule.endpoint_id === null
            ? null
            : ['Endpoint profile', <IdLink key="profile" page="endpoints" id={schedule.endpoint_id} />],
          ['Fires', <TimingText key="fires" schedule={schedule} />],
          ['TTL', schedule.ttl ?? 'none (no deadline)'],
          ['Retry policy', describeRetries(schedule.retry_policy)],
          schedule.jitter === null ? null : ['Jitter', `up to ${schedule.jitter} earlier or later`],
          schedule.rate_limit === null
            ? null
            : ['Rate limit', `${schedule.rate_limit.per_second} per second`],
          schedule.idempotency_key === null
            ? null
            : ['Idempotency-Key', <TruncatedText key="key" text={schedule.idempotency_key} isMono canCopy />],
          schedule.notify !== null
            ? ['Notifies', <NotifyText key="notify" notify={schedule.notify} />]
            : schedule.endpoint_id === null
              ? null
              : ['Notifies', 'as the endpoint profile says'],
          ['Metadata', <Labels key="labels" labels={schedule.metadata} shownMax={LABELS_MAX} />],
          ['Created', <Instant key="created" at={schedule.created_at} />],
          ['Updated', <Instant key="changed" at={schedule.updated_at} />],
        ]}
      />
    </Card>
  );
}

function NextRuns({ schedule }: { readonly schedule: Schedule }) {
  const { cron, timezone } = schedule;
  const zone = timezone ?? displayZone.value;
  // The schedule has the instants of its runs. The notes about clock changes come from a preview.
  const { preview } = usePreview(cron === null || schedule.state !== 'active' ? null : { cron, timezone });
  const runs = schedule.next_runs.map(
    (at): PreviewRun => ({
      at,
      local: '',
      offset: offsetText(zone, at),
      notes: preview === null ? [] : nearestNotes(preview.runs, at),
    }),
  );
  return (
    <Card title="Next runs">
      {runs.length > 0 ? (
        <>
          <RunsList runs={runs} timezone={zone} />
          <ClockChanges preview={preview} />
        </>
      ) : (
        <p class="text-dim">{whyNoRuns(schedule.state)}</p>
      )}
    </Card>
  );
}

function whyNoRuns(state: Schedule['state']): string {
  switch (state) {
    case 'paused':
      return 'The schedule is paused. Resume it to fire again.';
    case 'canceled':
      return 'The schedule is canceled. It never fires again.';
    case 'completed':
      return 'The schedule has fired for the last time.';
    case 'active':
      return 'The schedule has no run in the foreseeable time.';
  }
}

/** Returns the notes of the nearest run, since jitter moves a run away from its nominal instant. */
function nearestNotes(runs: readonly PreviewRun[], at: string): PreviewRun['notes'] {
  const distance = (run: PreviewRun) => Math.abs(Date.parse(run.at) - Date.parse(at));
  const [nearest] = [...runs].sort((a, b) => distance(a) - distance(b));
  return nearest?.notes ?? [];
}

function offsetText(zone: string, at: string): string {
  const minutes = offsetAt(zone, Date.parse(at)) / 60_000;
  const two = (value: number) => String(Math.floor(value)).padStart(2, '0');
  return `${minutes < 0 ? '-' : '+'}${two(Math.abs(minutes) / 60)}:${two(Math.abs(minutes) % 60)}`;
}

function CalendarCard({ schedule }: { readonly schedule: Schedule }) {
  const zone = schedule.timezone ?? 'UTC';
  const selected = query.value.get('day');
  const day =
    selected !== null && isMonth(monthOf(selected)) && !Number.isNaN(Date.parse(selected))
      ? selected
      : dateIn(zone, Date.now());
  const month = monthOf(day);
  const live = useLive<Calendar>(
    apiPath(pathWithQuery(`schedules/${schedule.id}/calendar`, queryOf(windowOf(month)))),
  );
  return (
    <Card title="Calendar">
      <Loaded live={live} skeleton={<Skeleton height={320} />}>
        {(calendar) => (
          <MonthCalendar
            calendar={calendar}
            month={month}
            day={day}
            onDay={(next) => setQuery({ day: next })}
          />
        )}
      </Loaded>
    </Card>
  );
}

function Deliveries({ schedule }: { readonly schedule: Schedule }) {
  const live = useLive<DeliveryList>(
    apiPath(`search/deliveries?${new URLSearchParams({ schedule_id: schedule.id })}`),
  );
  return (
    <Card
      title="Deliveries"
      isFlush
      actions={
        <ButtonLink
          kind="quiet"
          href={`${hrefInProject('deliveries')}?${new URLSearchParams({ schedule: schedule.id })}`}
        >
          All deliveries
        </ButtonLink>
      }
    >
      <Loaded live={live} skeleton={<TableSkeleton label="Loading deliveries" />}>
        {({ data }) =>
          data.length === 0 ? (
            <EmptyState icon="deliveries" title="No deliveries yet" />
          ) : (
            <DeliveryTable
              deliveries={data}
              caption="Deliveries of this schedule, newest first"
              kind="of_schedule"
            />
          )
        }
      </Loaded>
    </Card>
  );
}
