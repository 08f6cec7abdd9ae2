/** The bulk replays, newest first: their filter, their progress, and who started them. */

import type { Listed } from '../../../src/control/http/contract.ts';
import type { ReplayJobInfo } from '../../../src/control/http/data-contract.ts';
import { ButtonLink } from '../components/button.tsx';
import { IdLink } from '../components/copy.tsx';
import { EmptyState } from '../components/empty-state.tsx';
import { FilterText } from '../components/filter-text.tsx';
import { Instant } from '../components/instant.tsx';
import { JobBadge, JobBar, totalOf } from '../components/job-progress.tsx';
import { Card, Loaded, Page } from '../components/page.tsx';
import { TableSkeleton } from '../components/skeleton.tsx';
import { type Column, Table } from '../components/table.tsx';
import { formatCount } from '../format.ts';
import { useLive } from '../live.ts';
import { apiPath, hrefInProject } from '../session.ts';

const COLUMNS: readonly Column<ReplayJobInfo>[] = [
  {
    heading: 'Replay',
    isRowHeading: true,
    cell: (job) => (
      <div>
        <IdLink page="replays" id={job.id} isShort />
        <div class="text-sm text-dim">
          Deliveries <FilterText query={job.filter} />
        </div>
      </div>
    ),
  },
  { heading: 'State', cell: (job) => <JobBadge state={job.state} /> },
  {
    heading: 'Progress',
    cell: (job) => (
      <div class="w-40">
        <JobBar job={job} isThin />
        <div class="mt-1 text-sm text-dim tabular-nums">
          {formatCount(job.replayed)} of {formatCount(totalOf(job))}
        </div>
      </div>
    ),
  },
  {
    heading: 'Started',
    cell: (job) => (
      <div>
        <Instant at={job.created_at} />
        <div class="text-sm text-dim">by {job.created_by}</div>
      </div>
    ),
  },
];

export function ReplaysPage() {
  const live = useLive<Pick<Listed<ReplayJobInfo>, 'data'>>(apiPath('replays'));
  return (
    <Page title="Bulk replays">
      <Card isFlush>
        <Loaded live={live} skeleton={<TableSkeleton label="Loading bulk replays" />}>
          {({ data }) =>
            data.length === 0 ? (
              <EmptyState icon="retry" title="No bulk replays yet">
                <p class="max-w-prose">
                  Deliveries to an endpoint that fails for long become dead letters. Filter the deliveries,
                  then replay all dead letters at once.
                </p>
                <ButtonLink href={`${hrefInProject('deliveries')}?status=dead_letter`}>
                  Dead letters
                </ButtonLink>
              </EmptyState>
            ) : (
              <Table
                caption="Bulk replays, newest first"
                columns={COLUMNS}
                rows={data}
                rowKey={(job) => job.id}
              />
            )
          }
        </Loaded>
      </Card>
    </Page>
  );
}
