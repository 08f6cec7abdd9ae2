/** The four main figures of the overview. */
import type { Overview } from '../../../../src/control/http/data-contract.ts';
import { Sparkline } from '../../components/sparkline.tsx';
import { formatCompact, formatCount, formatMs, formatPercent } from '../../format.ts';
import { hrefInProject } from '../../session.ts';

interface TileProps {
  readonly name: string;
  readonly figure: string;
  /** The figure with all digits, for the tooltip. */
  readonly exact?: string;
  readonly note: string;
  readonly values: readonly number[];
  readonly className: string;
  readonly href?: string;
}

export function Tiles({ overview }: { readonly overview: Overview }) {
  const { total, lateness } = overview;
  // The last step is not over, so it would look like a drop.
  const steps = overview.steps.slice(0, -1);
  const ended = total.succeeded + total.dead_lettered + total.expired;
  const undelivered = total.dead_lettered + total.expired;
  return (
    <dl class="grid grid-cols-2 gap-3 md:gap-4 lg:grid-cols-4">
      <Tile
        name="Attempts"
        figure={formatCompact(total.fired)}
        exact={formatCount(total.fired)}
        note={`${formatCompact(total.retried)} led to a retry`}
        values={steps.map(({ fired }) => fired)}
        className="text-accent"
      />
      <Tile
        name="Succeeded"
        figure={formatPercent(total.succeeded, ended)}
        note={`${formatCompact(total.succeeded)} of ${formatCompact(ended)} deliveries`}
        values={steps.map(({ succeeded }) => succeeded)}
        className="text-good"
      />
      <Tile
        name="Not delivered"
        figure={formatCompact(undelivered)}
        exact={formatCount(undelivered)}
        note={`${formatCompact(total.dead_lettered)} dead-lettered, ${formatCompact(total.expired)} expired`}
        values={steps.map(({ dead_lettered, expired }) => dead_lettered + expired)}
        className={undelivered === 0 ? 'text-dim' : 'text-bad'}
        href={hrefInProject('deliveries?status=dead_letter')}
      />
      <Tile
        name="Lateness, p99"
        figure={lateness.p99_ms === null ? '–' : formatMs(lateness.p99_ms)}
        note={`${formatPercent(lateness.within_100_ms, lateness.attempts)} within 100 ms`}
        values={steps.map(({ p99_ms }) => p99_ms ?? 0)}
        className={(lateness.p99_ms ?? 0) > 100 ? 'text-warn' : 'text-accent'}
      />
    </dl>
  );
}

function Tile({ name, figure, exact, note, values, className, href }: TileProps) {
  return (
    <div class="card flex min-w-0 flex-col overflow-hidden">
      <dt class="px-4 pt-3 text-dim">
        {href === undefined ? (
          name
        ) : (
          <a class="link" href={href}>
            {name}
          </a>
        )}
      </dt>
      <dd class="flex flex-1 flex-col px-4">
        <span class="text-2xl font-semibold tracking-tight tabular-nums" title={exact}>
          {figure}
        </span>
        <span class="mb-2 text-sm text-dim">{note}</span>
        <span class="-mx-4 mt-auto block">
          <Sparkline values={values} className={className} />
        </span>
      </dd>
    </div>
  );
}
