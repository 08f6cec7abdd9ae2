/** The overview: attempts, their outcomes and their lateness, what is due, breakers and nodes. */
import type { Overview, OverviewRange } from '../../../src/control/http/data-contract.ts';
import { Choice } from '../components/choice.tsx';
import { FirstScheduleHelp } from '../components/first-schedule.tsx';
import { Card, Loaded, Page } from '../components/page.tsx';
import { Skeleton } from '../components/skeleton.tsx';
import { useLive } from '../live.ts';
import { query, setQuery } from '../router.ts';
import { apiPath } from '../session.ts';
import { Breakers } from './overview/breakers.tsx';
import { DueChart, LatenessChart, LatenessHistogram, OutcomeChart } from './overview/charts.tsx';
import { Cluster } from './overview/cluster.tsx';
import { OpenIncidents } from './overview/open-incidents.tsx';
import { Tiles } from './overview/tiles.tsx';

const RANGES = [
  { value: '1h', label: '1 h' },
  { value: '6h', label: '6 h' },
  { value: '24h', label: '24 h' },
  { value: '7d', label: '7 d' },
  { value: '30d', label: '30 d' },
] as const;

function rangeOf(text: string | null): OverviewRange {
  return RANGES.find(({ value }) => value === text)?.value ?? '1h';
}

export function OverviewPage() {
  const range = rangeOf(query.value.get('range'));
  const live = useLive<Overview>(apiPath(`overview?range=${range}`));
  return (
    <Page
      title="Overview"
      actions={
        <Choice
          label="Range"
          value={range}
          options={RANGES}
          onValue={(value) => setQuery({ range: value === '1h' ? null : value })}
        />
      }
    >
      <OpenIncidents />
      <Loaded live={live} skeleton={<OverviewSkeleton />}>
        {(overview) =>
          overview.is_empty ? (
            <Card>
              <FirstScheduleHelp />
            </Card>
          ) : (
            <Charts overview={overview} />
          )
        }
      </Loaded>
    </Page>
  );
}

function Charts({ overview }: { readonly overview: Overview }) {
  return (
    <div class="grid grid-cols-1 gap-4 lg:grid-cols-2">
      <div class="lg:col-span-2">
        <Tiles overview={overview} />
      </div>
      <Card title="Attempts and outcomes" className="lg:col-span-2">
        <OutcomeChart overview={overview} />
      </Card>
      <Card title="Lateness over time">
        <LatenessChart overview={overview} />
      </Card>
      <Card title="Attempts by lateness">
        <LatenessHistogram overview={overview} />
      </Card>
      <Card title="Due in the next hour" className="lg:col-span-2">
        <DueChart overview={overview} />
      </Card>
      <div class={overview.nodes === null ? 'lg:col-span-2' : ''}>
        <Breakers breakers={overview.breakers} />
      </div>
      {overview.nodes === null ? null : <Cluster nodes={overview.nodes} freeSlots={overview.free_slots} />}
    </div>
  );
}

function OverviewSkeleton() {
  return (
    <div class="grid gap-4 lg:grid-cols-2" role="status" aria-label="Loading">
      <div class="grid grid-cols-2 gap-4 lg:col-span-2 lg:grid-cols-4">
        {['a', 'b', 'c', 'd'].map((key) => (
          <Skeleton key={key} height={112} />
        ))}
      </div>
      <div class="lg:col-span-2">
        <Skeleton height={300} />
      </div>
      <Skeleton height={260} />
      <Skeleton height={260} />
    </div>
  );
}
