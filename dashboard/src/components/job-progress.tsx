/** The state and the progress of a bulk replay. */
import type { ReplayJobInfo } from '../../../src/control/http/data-contract.ts';
import { formatCount, formatPercent } from '../format.ts';
import { type BadgeStyle, StateBadge } from './badge.tsx';

const BADGES: Readonly<Record<ReplayJobInfo['state'], BadgeStyle>> = {
  gathering: { tone: 'accent', icon: 'search', label: 'Finding deliveries' },
  running: { tone: 'accent', icon: 'bolt', label: 'Replaying' },
  done: { tone: 'good', icon: 'check', label: 'Done' },
  stopped: { tone: 'neutral', icon: 'stop', label: 'Stopped' },
};

export function JobBadge({ state }: { readonly state: ReplayJobInfo['state'] }) {
  return <StateBadge state={state} badges={BADGES} />;
}

export function isEnded(job: ReplayJobInfo): boolean {
  return job.state === 'done' || job.state === 'stopped';
}

/** The number of deliveries to replay. While they are being gathered, the confirmed number counts. */
export function totalOf(job: ReplayJobInfo): number {
  return job.state === 'gathering' ? Math.max(job.expected, job.gathered) : job.gathered;
}

export function JobBar({ job, isThin = false }: { readonly job: ReplayJobInfo; readonly isThin?: boolean }) {
  const done = job.replayed + job.skipped;
  const total = totalOf(job);
  const share = (part: number) => `${total === 0 ? 0 : Math.min(100, (part / total) * 100)}%`;
  return (
    <div
      role="progressbar"
      aria-label="Replayed"
      aria-valuemin={0}
      aria-valuemax={total}
      aria-valuenow={Math.min(done, total)}
      aria-valuetext={`${formatCount(done)} of ${formatCount(total)}, ${formatPercent(done, total)}`}
      class={`relative overflow-hidden rounded-full bg-sunken ${isThin ? 'h-1.5' : 'h-3'}`}
    >
      {job.state === 'gathering' ? (
        <div class="absolute inset-y-0 left-0 bg-chart-soft" style={{ width: share(job.gathered) }} />
      ) : null}
      <div class="absolute inset-y-0 left-0 bg-edge" style={{ width: share(done) }} />
      <div
        class="absolute inset-y-0 left-0 bg-chart-good transition-[width] duration-500"
        style={{ width: share(job.replayed) }}
      />
    </div>
  );
}
