/**
 * The attempts of a delivery, one row each, from the due instant to the end: claimed, connected, first byte, end. A row
 * is a button that opens the exact figures, so that hovering is not needed. A table shows the same figures.
 */
import { useState } from 'preact/hooks';
import type { Delivery } from '../../../sdk/src/api-types.ts';
import type { AttemptInfo } from '../../../src/control/http/data-contract.ts';
import { formatMs } from '../format.ts';
import {
  type AttemptRow,
  attemptRows,
  axisTicks,
  outcomeLabel,
  type Phase,
  type PhaseName,
  phaseLabel,
  positionOf,
} from '../model/waterfall.ts';
import { displayZone, formatInstant } from '../time.ts';
import { AnswerExcerpt } from './answer-excerpt.tsx';
import { AttemptsTable } from './attempts-table.tsx';
import { Choice } from './choice.tsx';
import { Icon } from './icon.tsx';

const PHASE_COLOURS: Readonly<Record<PhaseName, string>> = {
  late: 'bg-edge',
  claimed: 'bg-chart-warn',
  connect: 'bg-chart-soft',
  wait: 'bg-chart-line',
  read: 'bg-chart-good',
  sent: 'bg-chart-line',
};
const LEGEND: readonly PhaseName[] = ['late', 'claimed', 'connect', 'wait', 'read'];

const VIEWS = [
  { value: 'bars', label: 'Bars' },
  { value: 'table', label: 'Table' },
] as const;
type View = (typeof VIEWS)[number]['value'];

interface WaterfallProps {
  readonly attempts: readonly AttemptInfo[];
  readonly delivery: Pick<Delivery, 'id' | 'deadline' | 'finalized_at'>;
}

export function Waterfall({ attempts, delivery }: WaterfallProps) {
  const [view, setView] = useState<View>('bars');
  const all = attemptRows(attempts);
  return (
    <div>
      <div class="flex flex-wrap items-center justify-between gap-3 pb-3">
        <Legend />
        <Choice label="View" options={VIEWS} value={view} onValue={setView} />
      </div>
      {view === 'table' ? <AttemptsTable all={all} /> : <Bars all={all} delivery={delivery} />}
    </div>
  );
}

function Legend() {
  return (
    <ul class="flex flex-wrap gap-x-4 gap-y-1 text-xs text-dim">
      {LEGEND.map((name) => (
        <li key={name} class="flex items-center gap-1.5">
          <span aria-hidden="true" class={`size-2.5 rounded-xs ${PHASE_COLOURS[name]}`} />
          {phaseLabel(name)}
        </li>
      ))}
    </ul>
  );
}

interface BarsProps extends Pick<WaterfallProps, 'delivery'> {
  readonly all: readonly AttemptRow[];
}

function Bars({ all, delivery }: BarsProps) {
  const ticks = axisTicks(all);
  const spanMs = ticks.at(-1) ?? 1;
  return (
    <div>
      <Axis ticks={ticks} spanMs={spanMs} />
      <ol>
        {all.map((row, index) => (
          <BarRow
            key={row.attempt.attempt_no}
            row={row}
            spanMs={spanMs}
            delivery={delivery}
            isLast={index === all.length - 1}
          />
        ))}
      </ol>
    </div>
  );
}

/** The axis and the rows have the same columns, so that they line up. */
const COLUMNS = 'grid grid-cols-[5.5rem_1fr_3.75rem] items-center gap-x-2 sm:gap-x-3';

function Axis({ ticks, spanMs }: { readonly ticks: readonly number[]; readonly spanMs: number }) {
  return (
    <div aria-hidden="true" class={`${COLUMNS} px-2 text-xs text-dim tabular-nums`}>
      <span>Since due</span>
      <span class="relative block h-5 border-b border-line">
        {ticks.map((ms, index, every) => (
          <span
            key={ms}
            class={`absolute bottom-0.5 whitespace-nowrap ${index === 0 ? '' : index === every.length - 1 ? '-translate-x-full' : 'max-sm:hidden -translate-x-1/2'}`}
            style={{ left: `${positionOf(ms, spanMs) * 100}%` }}
          >
            {ms === 0 ? '0' : formatMs(ms)}
          </span>
        ))}
      </span>
      <span class="text-right">Total</span>
    </div>
  );
}

function BarRow({
  row,
  spanMs,
  delivery: { id, deadline, finalized_at },
  isLast,
}: Pick<WaterfallProps, 'delivery'> & {
  readonly row: AttemptRow;
  readonly spanMs: number;
  readonly isLast: boolean;
}) {
  const { attempt, phases, waitMs, totalMs } = row;
  // The attempt with which a delivery failed is what people look for.
  const [isOpen, setOpen] = useState(isLast && finalized_at !== null && attempt.outcome !== 'success');
  const detailId = `attempt-${attempt.attempt_no}`;
  const deadlineMs = deadline === null ? null : Date.parse(deadline) - Date.parse(attempt.due_at);
  return (
    <li>
      {waitMs === null ? null : (
        <p class={`${COLUMNS} px-2 text-xs text-dim`}>
          <span />
          <span class="border-l border-dashed border-edge py-1 pl-2">
            waited {formatMs(waitMs)} before the next attempt
          </span>
        </p>
      )}
      <button
        type="button"
        class={`${COLUMNS} w-full rounded-md px-2 py-1.5 text-left hover:bg-sunken`}
        aria-expanded={isOpen}
        aria-controls={detailId}
        onClick={() => setOpen(!isOpen)}
      >
        <span class="flex items-center gap-1.5 whitespace-nowrap font-medium tabular-nums">
          <OutcomeIcon attempt={attempt} />#{attempt.attempt_no}
          <span class="font-normal text-dim">
            {attempt.status_code ?? (attempt.finished_at ? 'error' : '…')}
          </span>
        </span>
        <span class="relative block h-5 rounded-sm bg-sunken">
          {phases.map((phase) => (
            <PhaseBar key={phase.name} phase={phase} spanMs={spanMs} />
          ))}
          {deadlineMs !== null && deadlineMs >= 0 && deadlineMs <= spanMs ? (
            <span
              class="absolute -inset-y-1 w-0 border-l-2 border-dashed border-ink"
              style={{ left: `${positionOf(deadlineMs, spanMs) * 100}%` }}
              title="Deadline"
            />
          ) : null}
        </span>
        <span class="text-right tabular-nums">{attempt.finished_at === null ? '…' : formatMs(totalMs)}</span>
        <span class="sr-only">{describeRow(row)}</span>
      </button>
      <div id={detailId} hidden={!isOpen}>
        {isOpen ? <AttemptDetails row={row} deliveryId={id} /> : null}
      </div>
    </li>
  );
}

/** The shortest phase is still visible. */
const BAR_MIN = '2px';

function PhaseBar({ phase, spanMs }: { readonly phase: Phase; readonly spanMs: number }) {
  const from = positionOf(phase.fromMs, spanMs);
  const until = positionOf(phase.untilMs, spanMs);
  if (phase.untilMs <= phase.fromMs) return null;
  return (
    <span
      class={`absolute inset-y-0.5 border-r border-card ${PHASE_COLOURS[phase.name]} ${phase.name === 'late' ? 'opacity-60' : ''}`}
      style={{ left: `${from * 100}%`, width: `max(${BAR_MIN}, ${(until - from) * 100}%)` }}
      title={`${phaseLabel(phase.name)}: ${formatMs(phase.untilMs - phase.fromMs)}`}
    />
  );
}

function OutcomeIcon({ attempt }: { readonly attempt: AttemptInfo }) {
  if (attempt.finished_at === null) return <Icon name="bolt" className="text-accent" />;
  if (attempt.outcome === 'success') return <Icon name="check" className="text-good" />;
  return attempt.outcome === 'terminal' ? (
    <Icon name="cross" className="text-bad" />
  ) : (
    <Icon name="retry" className="text-warn" />
  );
}

function describeRow({ attempt, phases }: AttemptRow): string {
  const parts = phases.map((phase) => `${phaseLabel(phase.name)} ${formatMs(phase.untilMs - phase.fromMs)}`);
  return `${outcomeLabel(attempt)}. ${parts.join(', ')}.`;
}

function AttemptDetails({
  row: { attempt, phases },
  deliveryId,
}: {
  readonly row: AttemptRow;
  readonly deliveryId: string;
}) {
  const zone = displayZone.value;
  const facts: readonly (readonly [string, string])[] = [
    ['Due', formatInstant(attempt.due_at, zone, 'exact')],
    [
      'Fired',
      `${formatInstant(attempt.fired_at, zone, 'exact')}, ${formatMs(attempt.lateness_ms)} after it was due`,
    ],
    ...phases.map((phase) => [phaseLabel(phase.name), formatMs(phase.untilMs - phase.fromMs)] as const),
    ['Ended', attempt.finished_at === null ? 'not yet' : formatInstant(attempt.finished_at, zone, 'exact')],
    ['Connection', attempt.was_connected_before ? 'reused' : 'new'],
  ];
  return (
    <div class="mb-2 ml-2 border-l-2 border-line py-1 pl-4">
      {attempt.words === '' ? null : <p class="mb-2 max-w-prose">{attempt.words}</p>}
      {attempt.error === null ? null : <p class="mb-2 font-mono text-xs text-dim">{attempt.error}</p>}
      <dl class="legend-list">
        {facts.map(([name, value]) => (
          <div key={name} class="contents">
            <dt class="text-dim">{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
      {attempt.response_kept ? (
        <AnswerExcerpt deliveryId={deliveryId} attemptNo={attempt.attempt_no} />
      ) : null}
    </div>
  );
}
