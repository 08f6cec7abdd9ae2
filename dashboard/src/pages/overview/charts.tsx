/** The charts of the overview. */
import type { Overview } from '../../../../src/control/http/data-contract.ts';
import { Chart } from '../../components/chart.tsx';
import { formatCompact, formatCount, formatMs, formatPercent, plural } from '../../format.ts';
import { displayZone, formatInstant } from '../../time.ts';

const HOUR_MS = 3_600_000;
const LIMIT_MS = 100;
const HARD_LIMIT_MS = 300;

interface OfOverview {
  readonly overview: Overview;
}

function stepTexts({ steps, step_ms }: Overview): {
  readonly axisLabels: readonly string[];
  readonly stepLabels: readonly string[];
} {
  const zone = displayZone.value;
  const isByDay = step_ms >= HOUR_MS;
  return {
    axisLabels: steps.map(({ at }) => formatInstant(at, zone, isByDay ? 'minute' : 'time')),
    stepLabels: steps.map(({ at }) => formatInstant(at, zone, 'minute')),
  };
}

export function OutcomeChart({ overview }: OfOverview) {
  const { steps } = overview;
  const hasExpired = steps.some(({ expired }) => expired > 0);
  return (
    <Chart
      label="Attempts and their outcomes over time"
      stepHeading="From"
      {...stepTexts(overview)}
      bars={[
        { name: 'Succeeded', tone: 'good', values: steps.map(({ succeeded }) => succeeded) },
        { name: 'Retried', tone: 'warn', values: steps.map(({ retried }) => retried) },
        { name: 'Dead-lettered', tone: 'bad', values: steps.map(({ dead_lettered }) => dead_lettered) },
        ...(hasExpired
          ? [{ name: 'Expired', tone: 'soft' as const, values: steps.map(({ expired }) => expired) }]
          : []),
      ]}
      lines={[{ name: 'Attempts', tone: 'line', values: steps.map(({ fired }) => fired) }]}
      format={formatCompact}
      height={230}
    />
  );
}

export function LatenessChart({ overview }: OfOverview) {
  const { steps, lateness } = overview;
  return (
    <>
      <p class="mb-2 text-sm text-dim">
        Half of the attempts started within{' '}
        <strong class="font-medium text-ink">
          {lateness.p50_ms === null ? '–' : formatMs(lateness.p50_ms)}
        </strong>
        , 99% within{' '}
        <strong class="font-medium text-ink">
          {lateness.p99_ms === null ? '–' : formatMs(lateness.p99_ms)}
        </strong>{' '}
        of their due time.
      </p>
      <Chart
        label="Lateness over time, median and 99th percentile"
        stepHeading="From"
        {...stepTexts(overview)}
        lines={[
          { name: 'p50', tone: 'good', values: steps.map(({ p50_ms }) => p50_ms) },
          { name: 'p99', tone: 'line', values: steps.map(({ p99_ms }) => p99_ms) },
        ]}
        scale="log"
        thresholds={[
          { value: LIMIT_MS, label: '100 ms' },
          { value: HARD_LIMIT_MS, label: '300 ms' },
        ]}
        format={formatMs}
      />
    </>
  );
}

export function LatenessHistogram({ overview }: OfOverview) {
  const { classes, attempts, within_100_ms, within_300_ms } = overview.lateness;
  const classUpTo = (limit: number) => classes.findIndex(({ up_to_ms }) => up_to_ms === limit);
  const lowEnd = (index: number) => formatMs(classes[index - 1]?.up_to_ms ?? 0);
  return (
    <>
      <p class="mb-2 text-sm text-dim">
        Of {plural(attempts, 'attempt')},{' '}
        <strong class="font-medium text-ink">{formatPercent(within_100_ms, attempts)}</strong> started within
        100 ms and <strong class="font-medium text-ink">{formatPercent(within_300_ms, attempts)}</strong>{' '}
        within 300 ms.
      </p>
      <Chart
        label="Attempts by how late they started"
        stepHeading="Lateness"
        axisLabels={classes.map(({ up_to_ms }, index) =>
          up_to_ms === null ? `> ${lowEnd(index)}` : `≤ ${formatMs(up_to_ms)}`,
        )}
        stepLabels={classes.map(({ up_to_ms }, index) =>
          up_to_ms === null ? `over ${lowEnd(index)}` : `${lowEnd(index)} to ${formatMs(up_to_ms)}`,
        )}
        bars={[{ name: 'Attempts', tone: 'line', values: classes.map((one) => one.attempts) }]}
        dividers={[
          { afterStep: classUpTo(LIMIT_MS), label: '100 ms' },
          { afterStep: classUpTo(HARD_LIMIT_MS), label: '300 ms' },
        ].filter((divider) => divider.afterStep >= 0)}
        format={formatCompact}
        height={222}
      />
    </>
  );
}

export function DueChart({ overview }: OfOverview) {
  const { from, step_ms, counts, is_complete } = overview.due;
  const zone = displayZone.value;
  const start = Date.parse(from);
  const total = counts.reduce((sum, due) => sum + due, 0);
  const labels = counts.map((_, index) => formatInstant(start + index * step_ms, zone, 'time'));
  return (
    <>
      <p class="mb-2 text-sm text-dim">
        {is_complete ? '' : 'At least '}
        {plural(total, 'request')} due, including runs of recurring schedules. The busiest minute has{' '}
        {formatCount(Math.max(0, ...counts))}.
      </p>
      <Chart
        label="Requests due in each minute of the next hour"
        stepHeading="Minute"
        axisLabels={labels}
        stepLabels={labels}
        bars={[{ name: 'Due', tone: 'line', values: counts }]}
        format={formatCompact}
        height={140}
      />
    </>
  );
}
