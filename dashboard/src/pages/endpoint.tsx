/** One endpoint profile: its policies, its health, its secrets, and the schedules that use it. */
import { useState } from 'preact/hooks';
import type { Endpoint, Schedule } from '../../../sdk/src/api-types.ts';
import type { Destinations, ScheduleSearchPage } from '../../../src/control/http/data-contract.ts';
import { patch, post } from '../api.ts';
import { Badge, SCHEDULE_BADGES, StateBadge } from '../components/badge.tsx';
import { Button, ButtonLink } from '../components/button.tsx';
import { DestinationText, TruncatedText } from '../components/copy.tsx';
import { Confirm, Dialog, DialogEnd } from '../components/dialog.tsx';
import { EmptyState } from '../components/empty-state.tsx';
import { EndpointFields } from '../components/endpoint-fields.tsx';
import { BreakerState, CloseBreaker, SuccessRate } from '../components/endpoint-health.tsx';
import { EndpointSecrets } from '../components/endpoint-secrets.tsx';
import { Instant } from '../components/instant.tsx';
import { Labels } from '../components/labels.tsx';
import { NotifyText } from '../components/notify.tsx';
import { Card, DetailList, Loaded, Page } from '../components/page.tsx';
import { PayloadCard } from '../components/payload-card.tsx';
import { Skeleton, TableSkeleton } from '../components/skeleton.tsx';
import { SubjectLink, titleOf } from '../components/subject.tsx';
import { type Column, Table } from '../components/table.tsx';
import { TimingText } from '../components/timing-text.tsx';
import { toast } from '../components/toast.tsx';
import { truncateMiddle } from '../format.ts';
import { refreshLive, useLive } from '../live.ts';
import {
  describeBreaker,
  describeBudget,
  describeExcerpt,
  describeRetries,
} from '../model/describe-policy.ts';
import {
  type EndpointForm,
  endpointChanges,
  endpointFields,
  endpointFormOf,
  validateEndpoint,
} from '../model/endpoint-form.ts';
import { pathWithQuery, queryOf, SEARCH_CHARACTERS_MAX } from '../model/filters.ts';
import { LABELS_MAX } from '../model/pairs.ts';
import type { Params } from '../router.ts';
import { apiPath, hasRole, hrefInProject } from '../session.ts';
import { useForm } from '../use-form.ts';

export function EndpointPage({ params }: { readonly params: Params }) {
  const live = useLive<Endpoint>(apiPath(`endpoints/${encodeURIComponent(params.id ?? '')}`));
  const endpoint = live.data;
  return (
    <Page
      title="Endpoint profile"
      subject={endpoint && titleOf(endpoint)}
      parent={['endpoints', 'Endpoints']}
      badge={endpoint?.archived === true ? <Badge tone="neutral">Archived</Badge> : undefined}
      id={params.id}
      actions={endpoint !== null && hasRole('operator') ? <Actions endpoint={endpoint} /> : undefined}
    >
      <Loaded live={live} skeleton={<Skeleton height={280} />}>
        {(loaded) => (
          <div class="space-y-4">
            <div class="grid items-start gap-4 lg:grid-cols-[1fr_22rem]">
              <ProfileDetails endpoint={loaded} />
              <div class="space-y-4">
                <Health endpoint={loaded} />
                <PayloadCard
                  title="Headers"
                  path={`endpoints/${loaded.id}`}
                  headerNames={loaded.header_keys}
                  hasBody={false}
                />
              </div>
            </div>
            <EndpointSecrets id={loaded.id} />
            <ProfileSchedules endpoint={loaded} />
          </div>
        )}
      </Loaded>
    </Page>
  );
}

function Actions({ endpoint }: { readonly endpoint: Endpoint }) {
  const [open, setOpen] = useState<'edit' | 'archive' | null>(null);
  if (endpoint.archived) return null;
  const archive = async () => {
    await post<Endpoint>(apiPath(`endpoints/${endpoint.id}/archive`));
    toast('good', 'The endpoint profile is archived.');
    await refreshLive();
  };
  return (
    <>
      <ButtonLink
        icon="plus"
        href={`${hrefInProject('schedules/new')}?${new URLSearchParams({ endpoint: endpoint.id })}`}
      >
        New schedule
      </ButtonLink>
      <Button icon="settings" onClick={() => setOpen('edit')}>
        Edit…
      </Button>
      <Button kind="danger" onClick={() => setOpen('archive')}>
        Archive…
      </Button>
      {open === 'edit' ? <EditDialog endpoint={endpoint} onClose={() => setOpen(null)} /> : null}
      {open === 'archive' ? (
        <Confirm
          title="Archive this endpoint profile"
          action="Archive"
          isDanger
          onConfirm={archive}
          onClose={() => setOpen(null)}
        >
          <p>No new schedule can use it. This cannot be undone. Its history stays.</p>
          <p class="text-dim">
            The service refuses while an active or paused schedule uses it. Cancel those first.
          </p>
        </Confirm>
      ) : null}
    </>
  );
}

function EditDialog({ endpoint, onClose }: { readonly endpoint: Endpoint; readonly onClose: () => void }) {
  const send = async (form: EndpointForm) => {
    const changes = endpointChanges(form, endpoint);
    if (Object.keys(changes).length > 0) {
      await patch<Endpoint>(apiPath(`endpoints/${endpoint.id}`), changes);
      toast('good', 'Saved. Deliveries that are created from now on use it.');
    }
    onClose();
    await refreshLive();
  };
  const { form, change, errors, error, isBusy, submit, element } = useForm(
    endpointFormOf(endpoint),
    send,
    endpointFields,
    validateEndpoint,
  );
  return (
    <Dialog title="Edit endpoint profile" onClose={onClose} isWide isKept>
      <form ref={element} onSubmit={submit} noValidate class="space-y-5">
        <EndpointFields form={form} change={change} errors={errors} headersBefore={endpoint.header_keys} />
        <p class="text-sm text-dim">
          Later deliveries get version {endpoint.version + 1}. Deliveries that already exist keep theirs.
        </p>
        <DialogEnd error={error} isBusy={isBusy} action="Save" onClose={onClose} />
      </form>
    </Dialog>
  );
}

function ProfileDetails({ endpoint }: { readonly endpoint: Endpoint }) {
  return (
    <Card title="Details">
      <DetailList
        items={[
          endpoint.name === null
            ? null
            : [
                'Name',
                <span key="name" class="wrap-anywhere">
                  <TruncatedText text={endpoint.name} charactersMax={255} canCopy />
                </span>,
              ],
          [
            'Destination',
            <DestinationText
              key="to"
              url={endpoint.url}
              method={endpoint.method}
              charactersMax={90}
              canCopy
            />,
          ],
          ['Timeout', endpoint.timeout ?? '30s (default)'],
          ['Retry policy', describeRetries(endpoint.retry_policy)],
          ['Retry budget', describeBudget(endpoint.retry_budget)],
          ['Circuit breaker', describeBreaker(endpoint.breaker_policy)],
          ['Kept of answers', describeExcerpt(endpoint.response_excerpt)],
          ['Standard Webhooks', endpoint.standard_webhooks ? 'signed for it too' : 'no'],
          endpoint.rate_limit === null
            ? null
            : ['Rate limit', `${endpoint.rate_limit.per_second} per second, not enforced`],
          endpoint.notify === null
            ? null
            : ['Notifies', <NotifyText key="notify" notify={endpoint.notify} />],
          ['Version', endpoint.version],
          ['Metadata', <Labels key="labels" labels={endpoint.metadata} shownMax={LABELS_MAX} />],
          ['Created', <Instant key="created" at={endpoint.created_at} />],
          ['Updated', <Instant key="changed" at={endpoint.updated_at} />],
        ]}
      />
    </Card>
  );
}

/** The health of a profile comes from the first page of the list of endpoints. */
function Health({ endpoint }: { readonly endpoint: Endpoint }) {
  const live = useLive<Destinations<Endpoint>>(apiPath('destinations?include_archived=true'));
  const line = live.data?.data.find(({ profile }) => profile?.id === endpoint.id);
  return (
    <Card title="Last 24 hours">
      {line === undefined ? (
        <p class="text-dim">
          {live.data === null ? 'Loading…' : 'See its breaker and success rate in the list of endpoints.'}
        </p>
      ) : (
        <div class="space-y-3">
          <DetailList
            items={[
              ['Breaker', <BreakerState key="breaker" breaker={line.breaker} />],
              ['Succeeded', <SuccessRate key="rate" counts={line.last_24h} />],
              ['Attempts', line.last_24h.fired],
              ['Retried', line.last_24h.retried],
            ]}
          />
          <CloseBreaker endpoint={line.endpoint} url={line.url} breaker={line.breaker} />
        </div>
      )}
    </Card>
  );
}

const COLUMNS: readonly Column<Schedule>[] = [
  {
    heading: 'Schedule',
    isRowHeading: true,
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
  { heading: 'Metadata', cell: (schedule) => <Labels labels={schedule.metadata} /> },
];

/** The search goes by the URL, so schedules that name the same URL themselves are filtered out here. */
function ProfileSchedules({ endpoint }: { readonly endpoint: Endpoint }) {
  const live = useLive<ScheduleSearchPage<Schedule>>(
    apiPath(pathWithQuery('search/schedules', queryOf({ q: endpoint.url.slice(0, SEARCH_CHARACTERS_MAX) }))),
  );
  return (
    <Card
      title="Schedules"
      isFlush
      actions={
        <ButtonLink
          kind="quiet"
          href={`${hrefInProject('schedules')}?${new URLSearchParams({ q: endpoint.url })}`}
        >
          Search schedules
        </ButtonLink>
      }
    >
      <Loaded live={live} skeleton={<TableSkeleton label="Loading schedules" />}>
        {({ data }) => {
          const rows = data.filter((schedule) => schedule.endpoint_id === endpoint.id);
          return rows.length === 0 ? (
            <EmptyState icon="schedules" title="No schedule uses this endpoint profile" />
          ) : (
            <Table
              caption="Schedules of this endpoint profile"
              columns={COLUMNS}
              rows={rows}
              rowKey={({ id }) => id}
            />
          );
        }}
      </Loaded>
    </Card>
  );
}
