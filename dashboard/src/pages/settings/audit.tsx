/** The audit log: who did what, when, and with which outcome. */
import type { AuditLine, Listed, UserInfo } from '../../../../src/control/http/contract.ts';
import { type BadgeStyle, StateBadge } from '../../components/badge.tsx';
import { TruncatedText } from '../../components/copy.tsx';
import { EmptyState } from '../../components/empty-state.tsx';
import { SelectField } from '../../components/field.tsx';
import { Instant } from '../../components/instant.tsx';
import { Card, Loaded } from '../../components/page.tsx';
import { Pager } from '../../components/pager.tsx';
import { TableSkeleton } from '../../components/skeleton.tsx';
import { type Column, Table } from '../../components/table.tsx';
import { useLive } from '../../live.ts';
import { query, setQuery } from '../../router.ts';
import { session } from '../../session.ts';
import { SettingsPage } from './settings-page.tsx';

/** The filter goes by the beginning of an action. */
const ACTIONS = [
  { value: '', label: 'All actions' },
  { value: 'schedule.', label: 'Schedules' },
  { value: 'delivery.', label: 'Deliveries' },
  { value: 'replay.', label: 'Bulk replays' },
  { value: 'endpoint.', label: 'Endpoints' },
  { value: 'alert_', label: 'Alerts' },
  { value: 'key.', label: 'API keys' },
  { value: 'secret.', label: 'Signing secrets' },
  { value: 'session.', label: 'Sessions' },
  { value: 'login.', label: 'Throttled logins' },
  { value: 'access.', label: 'Refused by role' },
  { value: 'user.', label: 'People' },
  { value: 'invitation.', label: 'Invitations' },
  { value: 'project.', label: 'Projects' },
] as const;

const OUTCOMES: Readonly<Record<AuditLine['outcome'], BadgeStyle>> = {
  begun: { tone: 'accent', icon: 'hourglass', label: 'Started' },
  done: { tone: 'good', icon: 'check', label: 'Done' },
  refused: { tone: 'warn', icon: 'stop', label: 'Refused' },
  failed: { tone: 'bad', icon: 'cross', label: 'Failed' },
};

const FILTERS = ['user', 'project', 'action', 'cursor'] as const;

function auditPath(filters: URLSearchParams): string {
  const search = new URLSearchParams();
  for (const name of FILTERS) {
    const value = filters.get(name);
    if (value !== null && value !== '') search.set(name, value);
  }
  const text = search.toString();
  return text === '' ? 'audit' : `audit?${text}`;
}

export function AuditPage() {
  const live = useLive<Listed<AuditLine>>(auditPath(query.value));
  return (
    <SettingsPage
      title="Audit log"
      lead="Every change in the dashboard and on the command line, every secret that was revealed, and every refusal."
    >
      <Filters />
      <Card isFlush>
        <Loaded live={live} skeleton={<TableSkeleton />}>
          {({ data, next_cursor }) => (
            <>
              {data.length === 0 ? (
                <EmptyState icon="search" title="No entries">
                  <p>No entry matches the filters. Clear a filter to see more.</p>
                </EmptyState>
              ) : (
                <Table
                  caption="Audit log, newest first"
                  columns={COLUMNS}
                  rows={data}
                  rowKey={({ id }) => id}
                />
              )}
              <Pager nextCursor={next_cursor} />
            </>
          )}
        </Loaded>
      </Card>
    </SettingsPage>
  );
}

function Filters() {
  const users = useLive<Listed<UserInfo>>('users');
  const who = session.value;
  const projects = typeof who === 'string' ? [] : who.projects;
  const choose = (name: string) => (value: string) => setQuery({ [name]: value, cursor: null });
  return (
    <div class="mb-4 grid max-w-3xl gap-3 sm:grid-cols-3">
      <SelectField
        label="User"
        value={query.value.get('user') ?? ''}
        options={[
          { value: '', label: 'All users' },
          ...(users.data?.data ?? []).map(({ id, name }) => ({ value: id, label: name })),
        ]}
        onValue={choose('user')}
      />
      <SelectField
        label="Action"
        value={query.value.get('action') ?? ''}
        options={ACTIONS}
        onValue={choose('action')}
      />
      <SelectField
        label="Project"
        value={query.value.get('project') ?? ''}
        options={[
          { value: '', label: 'All projects' },
          ...projects.map(({ name }) => ({ value: name, label: name })),
        ]}
        onValue={choose('project')}
      />
    </div>
  );
}

const COLUMNS: readonly Column<AuditLine>[] = [
  {
    heading: 'Time',
    cell: ({ at }) => (
      <span class="whitespace-nowrap">
        <Instant at={at} />
      </span>
    ),
  },
  {
    heading: 'User',
    cell: ({ actor, address, peer }) => (
      <span>
        <span class="block">{actor}</span>
        {address === null ? null : <span class="font-mono text-xs text-dim">{address}</span>}
        {peer === null || peer === address ? null : (
          <span class="block text-xs text-dim">
            via <span class="font-mono">{peer}</span>
          </span>
        )}
      </span>
    ),
  },
  {
    heading: 'Action',
    isRowHeading: true,
    cell: ({ action, subject, detail }) => (
      <span>
        <span class="block font-medium">{action}</span>
        {subject === '' ? null : <TruncatedText text={subject} charactersMax={40} isMono />}
        <Detail detail={detail} />
      </span>
    ),
  },
  {
    heading: 'Project',
    cell: ({ project, mode }) =>
      project === null ? <span class="text-dim">–</span> : mode === null ? project : `${project} · ${mode}`,
  },
  {
    heading: 'Outcome',
    cell: ({ outcome, code }) => (
      <span class="inline-flex flex-wrap items-center gap-1.5">
        <StateBadge state={outcome} badges={OUTCOMES} />
        {code === null ? null : <code class="font-mono text-xs text-dim">{code}</code>}
      </span>
    ),
  },
];

function Detail({ detail }: { readonly detail: AuditLine['detail'] }) {
  const facts = Object.entries(detail).filter(([, value]) => value !== null);
  if (facts.length === 0) return null;
  return (
    <span class="block text-sm text-dim">
      {facts.map(([name, value]) => `${name}: ${value}`).join(' · ')}
    </span>
  );
}
