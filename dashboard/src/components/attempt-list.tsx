/** The attempts that ended, of all deliveries. */
import type { RecentAttempt } from '../../../sdk/src/api-types.ts';
import { formatMs, truncateMiddle } from '../format.ts';
import { OUTCOME_BADGES, StateBadge } from './badge.tsx';
import { IdLink } from './copy.tsx';
import { LastResponse, useAnnounceNew } from './delivery-table.tsx';
import { Instant, Relative } from './instant.tsx';
import { SubjectLink } from './subject.tsx';
import { type Column, Table } from './table.tsx';

const COLUMNS: readonly Column<RecentAttempt>[] = [
  {
    heading: 'Delivery',
    isRowHeading: true,
    className: 'lg:min-w-64',
    cell: (attempt) => (
      <SubjectLink
        subject={{ ...attempt, name: attempt.schedule_name }}
        page={`deliveries/${attempt.delivery_id}`}
        note={`${truncateMiddle(attempt.delivery_id, 16)} · attempt ${attempt.attempt_no}`}
      />
    ),
  },
  { heading: 'Outcome', cell: ({ outcome }) => <StateBadge state={outcome} badges={OUTCOME_BADGES} /> },
  {
    heading: 'Ended',
    className: 'whitespace-nowrap',
    cell: ({ finished_at: at }) =>
      at === null ? null : (
        <div>
          <Instant at={at} />
          <div class="text-sm text-dim">
            <Relative at={at} />
          </div>
        </div>
      ),
  },
  {
    heading: 'Response',
    cell: ({ status_code: code, error }) => (
      <LastResponse code={code} error={error} failure={code !== null && error === `HTTP ${code}`} />
    ),
  },
  { heading: 'Lateness', isFigure: true, cell: ({ lateness_ms: ms }) => formatMs(Math.max(0, ms)) },
  {
    heading: 'Took',
    isFigure: true,
    cell: ({ egress_ms: ms }) => (ms === null ? '–' : formatMs(ms)),
  },
  {
    heading: 'Schedule',
    cell: ({ schedule_id: id }) =>
      // Only a notification belongs to no schedule.
      id === null ? <span class="text-dim">notification</span> : <IdLink page="schedules" id={id} isShort />,
  },
];

export function AttemptList({ attempts }: { readonly attempts: readonly RecentAttempt[] }) {
  useAnnounceNew(
    attempts.map(({ id }) => id),
    ['new attempt', 'new attempts'],
  );
  return <Table caption="Attempts, newest first" columns={COLUMNS} rows={attempts} rowKey={({ id }) => id} />;
}
