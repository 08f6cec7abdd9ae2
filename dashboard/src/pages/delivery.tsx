/** One delivery: its state in plain words, its attempts, and the replay. */
import { useState } from 'preact/hooks';
import type { Delivery, Schedule } from '../../../sdk/src/api-types.ts';
import type { DeliveryDetails } from '../../../src/control/http/data-contract.ts';
import { post } from '../api.ts';
import { DELIVERY_BADGES, StateBadge } from '../components/badge.tsx';
import { Button } from '../components/button.tsx';
import { DestinationText, IdLink, TruncatedText } from '../components/copy.tsx';
import { Confirm } from '../components/dialog.tsx';
import { EmptyState } from '../components/empty-state.tsx';
import { Instant, Relative } from '../components/instant.tsx';
import { Card, DetailList, Loaded, Page } from '../components/page.tsx';
import { Skeleton } from '../components/skeleton.tsx';
import { TimingText } from '../components/timing-text.tsx';
import { toast } from '../components/toast.tsx';
import { Waterfall } from '../components/waterfall.tsx';
import { useLive } from '../live.ts';
import { isReplayable } from '../model/status.ts';
import { navigate, type Params } from '../router.ts';
import { apiPath, hasRole, hrefInProject } from '../session.ts';

type Details = DeliveryDetails<Delivery, Schedule>;

export function DeliveryPage({ params }: { readonly params: Params }) {
  const id = params.id ?? '';
  const live = useLive<Details>(apiPath(`deliveries/${encodeURIComponent(id)}/details`));
  const delivery = live.data?.delivery;
  const [isConfirming, setConfirming] = useState(false);
  return (
    <Page
      title="Delivery"
      badge={
        delivery === undefined ? undefined : <StateBadge state={delivery.status} badges={DELIVERY_BADGES} />
      }
      id={id}
      actions={
        delivery !== undefined && hasRole('operator') && isReplayable(delivery.status) ? (
          <Button icon="retry" onClick={() => setConfirming(true)}>
            Replay…
          </Button>
        ) : undefined
      }
    >
      <Loaded live={live} skeleton={<DeliverySkeleton />}>
        {(details) => <DeliveryView details={details} />}
      </Loaded>
      {isConfirming && delivery !== undefined ? (
        <ReplayConfirm delivery={delivery} onClose={() => setConfirming(false)} />
      ) : null}
    </Page>
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
  const { delivery, attempts, words } = details;
  return (
    <div class="space-y-4">
      {words === '' ? null : (
        <p class={`card border-l-4 px-4 py-3 ${borderOf(delivery.status)}`} aria-live="polite">
          {words}
        </p>
      )}
      <Card title="Attempts">
        {attempts.length === 0 ? (
          <EmptyState icon="clock" title="No attempts yet">
            {delivery.next_fire_at === null ? null : (
              <p>
                The first attempt starts <Relative at={delivery.next_fire_at} />.
              </p>
            )}
          </EmptyState>
        ) : (
          <Waterfall attempts={attempts} deadline={delivery.deadline} />
        )}
        <NextAttempt delivery={delivery} hasAttempts={attempts.length > 0} />
      </Card>
      <div class="grid gap-4 lg:grid-cols-2">
        <DeliveryFields details={details} />
        <ScheduleCard details={details} />
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
  hasAttempts,
}: {
  readonly delivery: Delivery;
  readonly hasAttempts: boolean;
}) {
  const { next_fire_at: next, deadline, finalized_at: finalized } = delivery;
  const hasNext = hasAttempts && next !== null && finalized === null;
  if (!hasNext && deadline === null) return null;
  return (
    <div class="mt-3 flex flex-wrap gap-x-6 gap-y-1 border-t border-line pt-3">
      {hasNext ? (
        <p>
          <span class="text-dim">Next attempt</span> <Relative at={next} /> <span class="text-dim">at</span>{' '}
          <Instant at={next} />
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

function DeliveryFields({ details: { delivery, schedule } }: { readonly details: Details }) {
  const zone = schedule?.timezone ?? null;
  return (
    <Card title="Details">
      <DetailList
        items={[
          [
            'Destination',
            <DestinationText
              key="to"
              url={delivery.url}
              method={delivery.method}
              charactersMax={80}
              canCopy
            />,
          ],
          ['Due', <Instant key="due" at={delivery.scheduled_for} zone={zone} style="exact" />],
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
          [
            'Idempotency-Key',
            <TruncatedText key="key" text={delivery.idempotency_key} charactersMax={28} isMono canCopy />,
          ],
          delivery.endpoint_id === null
            ? null
            : ['Endpoint profile', <IdLink key="profile" page="endpoints" id={delivery.endpoint_id} />],
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
          <TimingText schedule={schedule} />
          <p>
            <IdLink page="schedules" id={schedule.id} />
          </p>
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

function ReplayConfirm({ delivery, onClose }: { readonly delivery: Delivery; readonly onClose: () => void }) {
  const replay = async () => {
    const created = await post<Delivery>(apiPath(`deliveries/${encodeURIComponent(delivery.id)}/replay`));
    toast('good', 'Replayed. This is the new delivery.');
    navigate(hrefInProject(`deliveries/${created.id}`));
  };
  return (
    <Confirm title="Replay this delivery" action="Replay" onConfirm={replay} onClose={onClose}>
      <p>A new delivery is created and sent now. This one does not change.</p>
      <p class="text-dim">
        The new delivery has the same Idempotency-Key. A receiver that deduplicates ignores the new one,{' '}
        {delivery.status === 'succeeded' ? 'because' : 'if'} it has processed this one.
      </p>
    </Confirm>
  );
}
