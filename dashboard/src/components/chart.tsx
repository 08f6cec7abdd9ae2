/**
 * A chart of stacked bars and lines over steps of time or classes. It is SVG, so that colours follow the theme and text
 * is text. The cursor follows the pointer, or the arrow keys while the chart has the focus. For screen readers it is a
 * slider whose value describes the step. A table shows the same figures.
 */
import { useState } from 'preact/hooks';
import {
  bandWidth,
  type Frame,
  highestStack,
  labelStride,
  linearTicks,
  linePath,
  logTicks,
  type Scale,
  stackedBars,
  stepAt,
  yOf,
} from '../chart-geometry.ts';
import { useWidth } from '../use-width.ts';
import { Table } from './table.tsx';

export type ChartTone = 'good' | 'warn' | 'bad' | 'line' | 'soft';

export interface Series {
  readonly name: string;
  readonly tone: ChartTone;
  readonly values: readonly (number | null)[];
}

export interface ChartProps {
  /** The title of the chart, for screen readers. */
  readonly label: string;
  /** Short labels below the chart. */
  readonly axisLabels: readonly string[];
  /** The full label of each step. */
  readonly stepLabels: readonly string[];
  readonly stepHeading: string;
  readonly bars?: readonly Series[];
  readonly lines?: readonly Series[];
  readonly scale?: Scale;
  readonly format: (value: number) => string;
  /** Horizontal lines to compare values with. */
  readonly thresholds?: readonly { readonly value: number; readonly label: string }[];
  /** Vertical lines after a step. */
  readonly dividers?: readonly { readonly afterStep: number; readonly label: string }[];
  readonly height?: number;
}

/** The width of a digit in a label, and the space between two labels. */
const DIGIT_WIDTH = 6.5;
const LABEL_GAP = 22;
/** A chart with at most this many steps centres their labels. With more steps, a label marks the start of a step. */
const CENTRED_MAX = 30;
const DIVIDER_TEXT_GAP = 4;

export function Chart(props: ChartProps) {
  const {
    label,
    axisLabels,
    bars = [],
    lines = [],
    scale = 'linear',
    format,
    thresholds = [],
    dividers = [],
    height = 200,
  } = props;
  const [element, width] = useWidth();
  const [cursor, setCursor] = useState<number | null>(null);
  const count = axisLabels.length;
  const frame: Frame = { width, height, left: 44, top: 14, bottom: 20 };
  const highest = Math.max(
    highestStack(bars.map(({ values }) => values)),
    ...lines.flatMap(({ values }) => values.map((value) => value ?? 0)),
    ...thresholds.map(({ value }) => value),
  );
  const ticks = scale === 'log' ? logTicks(highest) : linearTicks(highest);
  const end = ticks.at(-1) ?? 1;
  const band = bandWidth(count, frame);
  const textWidth = Math.max(0, ...axisLabels.map(({ length }) => length)) * DIGIT_WIDTH;
  const isCentred = count <= CENTRED_MAX;
  const labelX = (index: number) => frame.left + (index + (isCentred ? 0.5 : 0)) * band;
  const hasRoom = (index: number) => labelX(index) + textWidth * (isCentred ? 0.5 : 1) <= width;
  const stride = labelStride(count, frame, textWidth + LABEL_GAP);
  const paths = stackedBars(
    bars.map(({ values }) => values),
    end,
    frame,
  );
  const move = (event: KeyboardEvent) => {
    const next = movedCursor(event.key, cursor ?? count - 1, count);
    if (next === null) return;
    event.preventDefault();
    setCursor(next);
  };
  return (
    <figure class="min-w-0">
      <Legend series={[...bars, ...lines]} />
      <div
        ref={element}
        class="relative touch-pan-y rounded"
        style={{ height: `${height}px` }}
        role="slider"
        tabIndex={0}
        aria-label={`${label}. Use the arrow keys.`}
        aria-valuemin={0}
        aria-valuemax={Math.max(0, count - 1)}
        aria-valuenow={cursor ?? Math.max(0, count - 1)}
        aria-valuetext={describe(props, cursor ?? count - 1)}
        onKeyDown={move}
        onBlur={() => setCursor(null)}
        onPointerMove={(event) =>
          setCursor(stepAt(event.clientX - event.currentTarget.getBoundingClientRect().left, count, frame))
        }
        onPointerLeave={() => setCursor(null)}
      >
        {width === 0 ? null : (
          <svg width={width} height={height} aria-hidden="true" class="block overflow-visible">
            {ticks.map((tick) => (
              <g key={tick}>
                <line
                  x1={frame.left}
                  x2={width}
                  y1={yOf(tick, end, scale, frame)}
                  y2={yOf(tick, end, scale, frame)}
                  class="stroke-line"
                />
                <text
                  x={frame.left - 6}
                  y={yOf(tick, end, scale, frame) + 4}
                  text-anchor="end"
                  class="fill-dim text-[0.6875rem] tabular-nums"
                >
                  {format(tick)}
                </text>
              </g>
            ))}
            {cursor === null ? null : (
              <rect
                x={frame.left + cursor * band}
                y={frame.top}
                width={band}
                height={height - frame.top - frame.bottom}
                class="fill-ink opacity-10"
              />
            )}
            {bars.map(({ name, tone }, index) => (
              <path key={name} d={paths[index]} class={`fill-chart-${tone}`} />
            ))}
            {lines.map(({ name, tone, values }) => (
              <path
                key={name}
                d={linePath(values, end, scale, frame)}
                fill="none"
                stroke-width="1.75"
                stroke-linejoin="round"
                stroke-linecap="round"
                class={`stroke-chart-${tone}`}
              />
            ))}
            {thresholds.map((threshold) => (
              <g key={threshold.label}>
                <line
                  x1={frame.left}
                  x2={width}
                  y1={yOf(threshold.value, end, scale, frame)}
                  y2={yOf(threshold.value, end, scale, frame)}
                  stroke-dasharray="4 3"
                  class="stroke-dim"
                />
                <text
                  x={width}
                  y={yOf(threshold.value, end, scale, frame) - 4}
                  text-anchor="end"
                  class="fill-dim text-[0.6875rem]"
                >
                  {threshold.label}
                </text>
              </g>
            ))}
            {dividers.map((divider, index) => (
              <Divider
                key={divider.label}
                x={frame.left + (divider.afterStep + 1) * band}
                bottom={height - frame.bottom}
                label={divider.label}
                isLabelBefore={index === 0}
              />
            ))}
            {axisLabels.map((text, index) =>
              index % stride === 0 && hasRoom(index) ? (
                <text
                  key={`${index} ${text}`}
                  x={labelX(index)}
                  y={height - 5}
                  text-anchor={isCentred ? 'middle' : 'start'}
                  class="fill-dim text-[0.6875rem] tabular-nums"
                >
                  {text}
                </text>
              ) : null,
            )}
          </svg>
        )}
        {cursor === null ? null : (
          <Tooltip chart={props} index={cursor} x={frame.left + (cursor + 0.5) * band} width={width} />
        )}
      </div>
      <ChartTable chart={props} />
    </figure>
  );
}

interface DividerProps {
  readonly x: number;
  readonly bottom: number;
  readonly label: string;
  /** Two dividers close to each other have their labels on opposite sides. */
  readonly isLabelBefore: boolean;
}

function Divider({ x, bottom, label, isLabelBefore }: DividerProps) {
  return (
    <g>
      <line x1={x} x2={x} y1={0} y2={bottom} stroke-dasharray="4 3" class="stroke-dim" />
      <text
        x={x + (isLabelBefore ? -DIVIDER_TEXT_GAP : DIVIDER_TEXT_GAP)}
        y={10}
        text-anchor={isLabelBefore ? 'end' : 'start'}
        class="fill-dim text-[0.6875rem]"
      >
        {label}
      </text>
    </g>
  );
}

function movedCursor(key: string, from: number, count: number): number | null {
  const to = {
    ArrowLeft: from - 1,
    ArrowRight: from + 1,
    ArrowDown: from - 1,
    ArrowUp: from + 1,
    Home: 0,
    End: count - 1,
  }[key];
  return to === undefined ? null : Math.min(count - 1, Math.max(0, to));
}

function seriesOf({ bars = [], lines = [] }: ChartProps): readonly Series[] {
  return [...bars, ...lines];
}

function formatValue(value: number | null | undefined, format: ChartProps['format']): string {
  return value === null || value === undefined ? '–' : format(value);
}

function describe(chart: ChartProps, index: number): string {
  const figures = seriesOf(chart).map(
    ({ name, values }) => `${name} ${formatValue(values[index], chart.format)}`,
  );
  return `${chart.stepLabels[index] ?? ''}: ${figures.join(', ')}`;
}

function Legend({ series }: { readonly series: readonly Series[] }) {
  if (series.length < 2) return null;
  return (
    <ul class="mb-1 flex flex-wrap gap-x-4 gap-y-1 text-sm text-dim" aria-hidden="true">
      {series.map(({ name, tone }) => (
        <li key={name} class="flex items-center gap-1.5">
          <span class={`size-2.5 rounded-xs bg-chart-${tone}`} />
          {name}
        </li>
      ))}
    </ul>
  );
}

const TOOLTIP_WIDTH = 190;

function Tooltip({
  chart,
  index,
  x,
  width,
}: {
  readonly chart: ChartProps;
  readonly index: number;
  readonly x: number;
  readonly width: number;
}) {
  const isRight = x > width / 2;
  const left = isRight ? Math.max(0, x - TOOLTIP_WIDTH - 12) : Math.min(width - TOOLTIP_WIDTH, x + 12);
  return (
    <div
      class="card pointer-events-none absolute top-2 z-10 px-2.5 py-2 text-sm shadow-lg"
      style={{ left: `${left}px`, width: `${TOOLTIP_WIDTH}px` }}
      aria-hidden="true"
    >
      <p class="mb-1 font-medium">{chart.stepLabels[index]}</p>
      {seriesOf(chart)
        .toReversed()
        .map(({ name, tone, values }) => (
          <p key={name} class="flex items-center gap-1.5">
            <span class={`size-2 rounded-xs bg-chart-${tone}`} />
            <span class="text-dim">{name}</span>
            <span class="ml-auto tabular-nums">{formatValue(values[index], chart.format)}</span>
          </p>
        ))}
    </div>
  );
}

function ChartTable({ chart }: { readonly chart: ChartProps }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <details class="mt-1 text-sm" onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary class="w-fit rounded text-dim hover:text-ink">Show as table</summary>
      {isOpen ? (
        <section
          class="mt-2 max-h-72 overflow-auto rounded-md border border-line"
          // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard.
          tabIndex={0}
          aria-label={chart.label}
        >
          <Table
            caption={chart.label}
            isPlain
            columns={[
              { heading: chart.stepHeading, isRowHeading: true, cell: (index) => chart.stepLabels[index] },
              ...seriesOf(chart).map(({ name, values }) => ({
                heading: name,
                isFigure: true,
                cell: (index: number) => formatValue(values[index], chart.format),
              })),
            ]}
            rows={[...chart.stepLabels.keys()]}
            rowKey={String}
          />
        </section>
      ) : null}
    </details>
  );
}
