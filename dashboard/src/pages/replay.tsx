/** One bulk replay: its progress, its pace, and the button that stops it. */
import { useEffect, useState } from 'preact/hooks';
import type { ReplayJobInfo } from '../../../src/control/http/data-contract.ts';
import { post } from '../api.ts';
import { Button, ButtonLink } from '../components/button.tsx';
import { Confirm } from '../components/dialog.tsx';
import { FilterText } from '../components/filter-text.tsx';
import { Instant } from '../components/instant.tsx';
import { isEnded, JobBadge, JobBar, totalOf } from '../components/job-progress.tsx';
import { Card, DetailList, Loaded, Page } from '../components/page.tsx';
import { Skeleton } from '../components/skeleton.tsx';
import { announce, toast } from '../components/toast.tsx';
import { formatCount, formatMs, formatPercent, plural } from '../format.ts';
import { refreshLive, useLive } from '../live.ts';
import { filterOfQuery, pathWithQuery, writeDeliveryFilter } from '../model/filters.ts';
import { addSample, ratePerSecond, remainingMs, type Sample } from '../model/replay-rate.ts';
import type { Params } from '../router.ts';
import { apiPath, hasRole, hrefInProject } from '../session.ts';

export function ReplayPage({ params }: { readonly params: Params }) {
  const path = apiPath(`replays/${encodeURIComponent(params.id ?? '')}`);
  const live = useLive<ReplayJobInfo>(path);
  const job = live.data;
  const [isConfirming, setConfirming] = useState(false);
  const stop = async () => {
    await post<ReplayJobInfo>(`${path}/stop`);
    toast('good', 'Stopped. The replays that exist already are sent.');
    await refreshLive();
  };
  return (
    <Page
      title="Bulk replay"
      badge={job === null ? undefined : <JobBadge state={job.state} />}
      actions={
        <>
          <ButtonLink kind="quiet" href={hrefInProject('replays')}>
            All bulk replays
          </ButtonLink>
          {job !== null && !isEnded(job) && hasRole('operator') ? (
            <Button kind="danger" icon="stop" onClick={() => setConfirming(true)}>
              Stop…
            </Button>
          ) : null}
        </>
      }
    >
      <Loaded live={live} skeleton={<Skeleton height={220} />}>
        {(loaded) => <JobView job={loaded} />}
      </Loaded>
      {isConfirming && job !== null && !isEnded(job) ? (
        <Confirm
          title="Stop this bulk replay"
          action="Stop"
          isDanger
          onConfirm={stop}
          onClose={() => setConfirming(false)}
        >
          <p>
            {plural(job.replayed, 'replay exists', 'replays exist')} already and will be sent. No more are
            created. Another bulk replay with the same filter starts from the beginning.
          </p>
        </Confirm>
      ) : null}
    </Page>
  );
}

function JobView({ job }: { readonly job: ReplayJobInfo }) {
  const rate = useRate(job);
  const total = totalOf(job);
  const done = job.replayed + job.skipped;
  useEffect(() => {
    if (isEnded(job))
      announce(`${job.state === 'done' ? 'Done' : 'Stopped'}: ${formatCount(job.replayed)} replayed.`);
  }, [job.state]);
  return (
    <div class="space-y-4">
      <Card>
        <div class="mb-2 flex flex-wrap items-baseline justify-between gap-x-4 pt-2">
          <p class="text-lg tabular-nums">
            <strong>{formatCount(done)}</strong> of {formatCount(total)}
            <span class="text-dim"> · {formatPercent(done, total)}</span>
          </p>
          <p class="text-dim tabular-nums">{describePace(job, rate)}</p>
        </div>
        <JobBar job={job} />
        <p class="mt-3 text-dim">{describeState(job)}</p>
      </Card>
      <div class="grid gap-4 lg:grid-cols-2">
        <Card title="Filter">
          <p class="mb-3">
            Deliveries <FilterText query={job.filter} />.
          </p>
          <a
            class="link"
            href={pathWithQuery(hrefInProject('deliveries'), writeDeliveryFilter(filterOfQuery(job.filter)))}
          >
            Show the deliveries
          </a>
        </Card>
        <Card title="Details">
          <DetailList
            items={[
              ['Expected', formatCount(job.expected)],
              ['Found', formatCount(job.gathered)],
              ['Replayed', formatCount(job.replayed)],
              [
                'Skipped',
                `${formatCount(job.skipped)}${job.skipped > 0 ? ' (removed by retention, or without a destination)' : ''}`,
              ],
              ['Started', <Instant key="started" at={job.created_at} />],
              ['Started by', job.created_by],
              job.ended_at === null ? null : ['Ended', <Instant key="ended" at={job.ended_at} />],
            ]}
          />
        </Card>
      </div>
    </div>
  );
}

function useRate(job: ReplayJobInfo): number | null {
  const [samples, setSamples] = useState<readonly Sample[]>([]);
  useEffect(() => {
    setSamples((before) => addSample(before, { atMs: Date.now(), replayed: job.replayed }));
  }, [job]);
  return isEnded(job) ? null : ratePerSecond(samples);
}

function describePace(job: ReplayJobInfo, rate: number | null): string {
  if (job.ended_at !== null) {
    return `took ${formatMs(Math.max(0, Date.parse(job.ended_at) - Date.parse(job.created_at)))}`;
  }
  if (rate === null) return '';
  const left = remainingMs(rate, totalOf(job) - job.replayed - job.skipped);
  return `${rate < 10 ? rate.toFixed(1) : Math.round(rate)} a second${left === null ? '' : `, about ${formatMs(Math.ceil(left / 1_000) * 1_000)} left`}`;
}

function describeState(job: ReplayJobInfo): string {
  switch (job.state) {
    case 'gathering':
      return `${formatCount(job.gathered)} deliveries found so far. You can leave this page.`;
    case 'running':
      return 'Replays are sent at the pace of each endpoint’s retry budget. You can leave this page.';
    case 'done':
      return 'All deliveries are replayed. The list of deliveries shows how the new ones end.';
    case 'stopped':
      return 'Stopped by a user. The other deliveries are not replayed.';
  }
}
