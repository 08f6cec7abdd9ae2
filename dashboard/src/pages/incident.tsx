/** One incident: what happened, since when, and the messages about it. Its messages link to this page. */
import type {
  AlertChannelInfo,
  AlertIncidentInfo,
  AlertMessageInfo,
} from '../../../src/control/http/alert-contract.ts';
import type { Listed } from '../../../src/control/http/contract.ts';
import { INCIDENT_BADGES, MESSAGE_BADGES, StateBadge } from '../components/badge.tsx';
import { IdLink, withLineBreaks } from '../components/copy.tsx';
import { LastResponse } from '../components/delivery-table.tsx';
import { EmptyState } from '../components/empty-state.tsx';
import { Instant, Relative } from '../components/instant.tsx';
import { Card, DetailList, Loaded, Page } from '../components/page.tsx';
import { Skeleton, TableSkeleton } from '../components/skeleton.tsx';
import { type Column, Table } from '../components/table.tsx';
import { formatCount } from '../format.ts';
import { useLive } from '../live.ts';
import { describeCondition, stateOf } from '../model/alerts.ts';
import type { Params } from '../router.ts';
import { apiPath, hrefInProject } from '../session.ts';
import { InstantAndAge } from './alerts/incidents.tsx';

export function IncidentPage({ params }: { readonly params: Params }) {
  const path = `alerts/incidents/${encodeURIComponent(params.id ?? '')}`;
  const live = useLive<AlertIncidentInfo>(apiPath(path));
  const messages = useLive<Listed<AlertMessageInfo>>(apiPath(`${path}/messages`));
  const incident = live.data;
  return (
    <Page
      title="Incident"
      subject={incident?.title ?? null}
      parent={['alerts', 'Alerts']}
      badge={
        incident === null ? undefined : <StateBadge state={stateOf(incident)} badges={INCIDENT_BADGES} />
      }
      id={params.id}
    >
      <Loaded live={live} skeleton={<Skeleton height={240} />}>
        {(loaded) => (
          <div class="space-y-4">
            <Words incident={loaded} messages={messages.data?.data ?? []} />
            <Details incident={loaded} />
            <Card title="Messages" isFlush>
              <Loaded live={messages} skeleton={<TableSkeleton label="Loading messages" />}>
                {({ data }) => <Messages messages={data} />}
              </Loaded>
            </Card>
          </div>
        )}
      </Loaded>
    </Page>
  );
}

/** The text of the first or the last message, which all channels get alike. */
function Words({
  incident,
  messages,
}: {
  readonly incident: AlertIncidentInfo;
  readonly messages: readonly AlertMessageInfo[];
}) {
  const isClosed = incident.closed_at !== null;
  const message = messages.find(({ kind }) => kind === (isClosed ? 'closed' : 'opened'));
  if (message === undefined) return null;
  return (
    <div class={`card border-l-4 px-4 py-3 ${isClosed ? 'border-l-good' : 'border-l-bad'}`}>
      <p>{withLineBreaks(message.text)}</p>
    </div>
  );
}

function Details({ incident }: { readonly incident: AlertIncidentInfo }) {
  const { endpoint, endpoint_name: name, count, quiet_since: quiet, reminded_at: reminded } = incident;
  return (
    <Card title="Details">
      <DetailList
        items={[
          ['Condition', describeCondition(incident)],
          endpoint === null
            ? null
            : [
                'Endpoint',
                endpoint.startsWith('ep_') ? (
                  <IdLink key="endpoint" page="endpoints" id={endpoint} name={name} />
                ) : (
                  <a key="endpoint" class="link" href={hrefInProject('endpoints')}>
                    {withLineBreaks(endpoint)}
                  </a>
                ),
              ],
          count === null
            ? null
            : [
                'Failed',
                <span key="failed">
                  {formatCount(count)} when it began,{' '}
                  <a class="link underline" href={hrefInProject('deliveries?status=dead_letter')}>
                    see the dead letters
                  </a>
                </span>,
              ],
          ['Since', <Instant key="since" at={incident.opened_at} />],
          ['Until', incident.closed_at === null ? 'open' : <Instant key="until" at={incident.closed_at} />],
          quiet === null || incident.closed_at !== null
            ? null
            : [
                'Quiet since',
                <span key="quiet">
                  <Instant at={quiet} /> (<Relative at={quiet} />
                  ). It is closed after 5 quiet minutes.
                </span>,
              ],
          reminded === null ? null : ['Last reminder', <Instant key="reminder" at={reminded} />],
        ]}
      />
    </Card>
  );
}

const KINDS: Readonly<Record<AlertMessageInfo['kind'], string>> = {
  opened: 'Opened',
  reminder: 'Reminder',
  closed: 'Closed',
  test: 'Test',
};

function Messages({ messages }: { readonly messages: readonly AlertMessageInfo[] }) {
  const channels = useLive<Listed<AlertChannelInfo>>(apiPath('alerts/channels'));
  if (messages.length === 0) {
    return (
      <EmptyState icon="bell" title="No messages">
        <p>Retention has removed them, or nobody was to be told.</p>
      </EmptyState>
    );
  }
  const nameOf = (id: string) => channels.data?.data.find((one) => one.id === id)?.name;
  return (
    <Table
      caption="Messages, newest first"
      columns={[
        { heading: 'Message', isRowHeading: true, cell: ({ kind }) => KINDS[kind] },
        {
          heading: 'Channel',
          cell: ({ channel_id: id }) => (
            <span title={id}>
              {nameOf(id) ?? <span class="text-dim">{channels.data === null ? '…' : 'removed'}</span>}
            </span>
          ),
        },
        ...COLUMNS,
      ]}
      rows={messages}
      rowKey={({ id }) => id}
    />
  );
}

const COLUMNS: readonly Column<AlertMessageInfo>[] = [
  {
    heading: 'Status',
    cell: ({ status, next_attempt_at: nextAt, attempt_count: attempts }) => (
      <div>
        <StateBadge state={status} badges={MESSAGE_BADGES} />
        {nextAt === null || attempts === 0 ? null : (
          <div class="text-sm text-dim">
            next attempt <Relative at={nextAt} />
          </div>
        )}
      </div>
    ),
  },
  {
    heading: 'Last response',
    cell: ({ last_status_code: code, error }) => (
      <LastResponse code={code} error={error} failure={code !== null && error === `HTTP ${code}`} />
    ),
  },
  { heading: 'Attempts', isFigure: true, cell: ({ attempt_count: attempts }) => attempts },
  {
    heading: 'Created',
    className: 'whitespace-nowrap',
    cell: ({ created_at: at }) => <InstantAndAge at={at} />,
  },
];
