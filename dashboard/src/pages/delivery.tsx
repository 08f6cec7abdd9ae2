/** One delivery: its state in plain words, its attempts, and its request. */
import type { Delivery, Schedule } from '../../../sdk/src/api-types.ts';
import type { DeliveryDetails } from '../../../src/control/http/data-contract.ts';
import { Badge, DELIVERY_BADGES, StateBadge } from '../components/badge.tsx';
import { IdLink } from '../components/copy.tsx';
import { DeliveryActions } from '../components/delivery-actions.tsx';
import { EmptyState } from '../components/empty-state.tsx';
import { Instant, Relative } from '../components/instant.tsx';
import { NotificationOf, Notifications } from '../components/notifications.tsx';
import { Card, DetailList, Loaded, Page } from '../components/page.tsx';
import { RequestCard } from '../components/request-card.tsx';
import { Skeleton } from '../components/skeleton.tsx';
import { SubjectLink, titleOf } from '../components/subject.tsx';
import { TimingText } from '../components/timing-text.tsx';
import { Waterfall } from '../components/waterfall.tsx';
import { useLive } from '../live.ts';
import type { Params } from '../router.ts';
import { apiPath, hasRole, hrefInProject } from '../session.ts';

type Details = DeliveryDetails<Delivery, Schedule>;

export function DeliveryPage({ params }: { readonly params: Params }) {
  const id = params.id ?? '';
  const live = useLive<Details>(apiPath(`deliveries/${encodeURIComponent(id)}/details`));
  const details = live.data;
  const delivery = details?.delivery;
  return (
    <Page
      title="Delivery"
      subject={
        delivery === undefined ? null : titleOf({ ...delivery, name: details?.schedule?.name ?? null })
      }
      parent={['deliveries', 'Deliveries']}
      badge={delivery === undefined ? undefined : <Badges delivery={delivery} />}
      id={id}
      actions={
        details !== null && hasRole('operator') ? (
          <DeliveryActions delivery={details.delivery} canCancel={details.can_cancel} />
        ) : undefined
      }
    >
      <Loaded live={live} skeleton={<DeliverySkeleton />}>
        {(loaded) => <DeliveryView details={loaded} />}
      </Loaded>
    </Page>
  );
}

function Badges({ delivery }: { readonly delivery: Delivery }) {
  return (
    <span class="flex flex-wrap gap-1.5">
      <StateBadge state={delivery.status} badges={DELIVERY_BADGES} />
      {delivery.triggered ? (
        <Badge tone="neutral" icon="bolt">
          Triggered
        </Badge>
      ) : null}
      {delivery.notification_of === null ? null : (
        <Badge tone="neutral" icon="bell">
          Notification
        </Badge>
      )}
      {delivery.replay_of === null ? null : (
        <Badge tone="neutral" icon="retry">
          Replay
        </Badge>
      )}
    </span>
  );
}

function DeliverySkeleton() {
  return (
    <div class="space-y-4" role="status" aria-label="Loading the delivery">
      <Skeleton height={56} />
      <Skeleton height={180} />
      <Skeleton height={220} />
    </div>
  );
}

function DeliveryView({ details }: { readonly details: Details }) {
  const { delivery, attempts, words, waiting } = details;
  const hasWords = words !== '';
  // While the breaker is open, a delivery that is not due yet will be deferred when it is.
  const nextAt = waiting?.until ?? delivery.next_fire_at;
  return (
    <div class="space-y-4">
      {hasWords ? (
        <div class={`card border-l-4 px-4 py-3 ${borderOf(delivery.status)}`}>
          <p aria-live="polite">{words}</p>
          {waiting === null || waiting.until === null ? null : (
            <p class="mt-1 text-dim">
              Until <Instant at={waiting.until} /> (<Relative at={waiting.until} />)
            </p>
          )}
        </div>
      ) : null}
      <Card title="Attempts">
        {attempts.length === 0 ? (
          <EmptyState icon="clock" title="No attempts yet">
            {nextAt === null ? null : (
              <p>
                The first attempt is due <Relative at={nextAt} />.
              </p>
            )}
          </EmptyState>
        ) : (
          <Waterfall attempts={attempts} delivery={delivery} />
        )}
        <NextAttempt delivery={delivery} nextAt={nextAt} hasAttempts={attempts.length > 0} />
      </Card>
      <div class="grid items-start gap-4 lg:grid-cols-2">
        <RequestCard delivery={delivery} headerNames={details.header_names} hasBody={details.has_body} />
        <div class="min-w-0 space-y-4">
          <DeliveryFields details={details} />
          {delivery.notification_of === null ? (
            <ScheduleCard details={details} />
          ) : (
            <NotificationOf id={delivery.notification_of} />
          )}
          {delivery.notify === null ? null : <Notifications delivery={delivery} notify={delivery.notify} />}
        </div>
      </div>
    </div>
  );
}

const BORDERS: Readonly<Record<string, string>> = {
  succeeded: 'border-l-good',
  dead_letter: 'border-l-bad',
  expired: 'border-l-bad',
  retry_scheduled: 'border-l-warn',
  claimed: 'border-l-accent',
};

function borderOf(status: string): string {
  return BORDERS[status] ?? 'border-l-edge';
}

function NextAttempt({
  delivery,
  nextAt,
  hasAttempts,
}: {
  readonly delivery: Delivery;
  readonly nextAt: string | null;
  readonly hasAttempts: boolean;
}) {
  const { deadline, finalized_at: finalized } = delivery;
  const hasNext = hasAttempts && nextAt !== null && finalized === null;
  if (!hasNext && deadline === null) return null;
  return (
    <div class="mt-3 flex flex-wrap gap-x-6 gap-y-1 border-t border-line pt-3">
      {hasNext ? (
        <p>
          <span class="text-dim">Next attempt</span> <Relative at={nextAt} /> <span class="text-dim">at</span>{' '}
          <Instant at={nextAt} />
        </p>
      ) : null}
      {deadline === null ? null : (
        <p>
          <span class="text-dim">Deadline</span> <Instant at={deadline} /> (<Relative at={deadline} />)
        </p>
      )}
    </div>
  );
}

function DeliveryFields({
  details: { delivery, schedule, endpoint_name: endpointName },
}: {
  readonly details: Details;
}) {
  const zone = schedule?.timezone ?? null;
  return (
    <Card title="Details">
      <DetailList
        items={[
          ['Due', <Instant key="due" at={delivery.scheduled_for} zone={zone} style="exact" />],
          delivery.triggered
            ? ['Occurrence', 'none: it was triggered']
            : delivery.occurrence === null || delivery.occurrence === delivery.scheduled_for
              ? null
              : [
                  'Occurrence',
                  <Instant key="occurrence" at={delivery.occurrence} zone={zone} style="exact" />,
                ],
          ['Created', <Instant key="created" at={delivery.created_at} style="exact" />],
          delivery.finalized_at === null
            ? null
            : ['Ended', <Instant key="ended" at={delivery.finalized_at} style="exact" />],
          ['Attempts', delivery.attempt_count],
          ['Last status code', delivery.last_status_code ?? '–'],
          delivery.error === null
            ? null
            : [
                'Error',
                <code key="error" class="font-mono text-sm">
                  {delivery.error}
                </code>,
              ],
          delivery.endpoint_id === null
            ? null
            : [
                'Endpoint profile',
                <IdLink key="profile" page="endpoints" id={delivery.endpoint_id} name={endpointName} />,
              ],
          delivery.endpoint_version === null ? null : ['Endpoint version', delivery.endpoint_version],
          delivery.replay_of === null
            ? null
            : ['Replay of', <IdLink key="original" page="deliveries" id={delivery.replay_of} />],
        ]}
      />
    </Card>
  );
}

function ScheduleCard({ details: { schedule, delivery } }: { readonly details: Details }) {
  return (
    <Card title="Schedule">
      {schedule === null ? (
        <p class="text-dim">The schedule was removed by retention.</p>
      ) : (
        <div class="space-y-3">
          <SubjectLink
            subject={{ ...schedule, url: schedule.endpoint }}
            page={`schedules/${schedule.id}`}
            note={schedule.id}
            charactersMax={60}
          />
          <TimingText schedule={schedule} />
          <p>
            <a
              class="link"
              href={`${hrefInProject('deliveries')}?${new URLSearchParams({ schedule: schedule.id, status: delivery.status })}`}
            >
              Deliveries of this schedule with the same status
            </a>
          </p>
        </div>
      )}
    </Card>
  );
}
