/**
 * A heat map of the runs that are due, by endpoint and time: the more runs, the darker. One cell is in the tab order, and
 * arrow keys move between cells. The line below describes the selected cell.
 */
import { useRef, useState } from 'preact/hooks';
import { formatCount, plural, truncateMiddle } from '../format.ts';
import { type Heat, type HeatRow, heatLevel } from '../model/upcoming-window.ts';
import { hrefInProject } from '../session.ts';
import { displayZone, formatInstant } from '../time.ts';
import { useIsNarrow } from '../use-width.ts';
import { Icon } from './icon.tsx';

/** Colours by level, from none to the most. */
const FILLS = [
  'bg-sunken',
  'bg-[color-mix(in_srgb,var(--color-chart-line)_25%,var(--color-sunken))]',
  'bg-[color-mix(in_srgb,var(--color-chart-line)_42%,var(--color-sunken))]',
  'bg-[color-mix(in_srgb,var(--color-chart-line)_60%,var(--color-sunken))]',
  'bg-[color-mix(in_srgb,var(--color-chart-line)_80%,var(--color-sunken))]',
  'bg-chart-line',
];
const LABELS_MAX = 6;
const HEADING_CHARACTERS_MAX = 28;
/** The end of a URL stays, since endpoints of one host differ there. */
const HEADING_NARROW_CHARACTERS_MAX = 12;

interface Cursor {
  readonly row: number;
  readonly column: number;
}

const MOVES: Readonly<Record<string, readonly [number, number]>> = {
  ArrowUp: [-1, 0],
  ArrowDown: [1, 0],
  ArrowLeft: [0, -1],
  ArrowRight: [0, 1],
  Home: [0, -Infinity],
  End: [0, Infinity],
};

export function HeatTable({ heat }: { readonly heat: Heat }) {
  const [cursor, setCursor] = useState<Cursor>({ row: 0, column: 0 });
  const body = useRef<HTMLTableSectionElement>(null);
  const all: readonly HeatRow[] = [
    { endpoint: null, cells: heat.totals, total: heat.totals.reduce((sum, value) => sum + value, 0) },
    ...heat.rows,
  ];
  const columns = heat.totals.length;
  const move = (event: KeyboardEvent) => {
    const step = MOVES[event.key];
    if (step === undefined) return;
    event.preventDefault();
    const next = {
      row: Math.min(all.length - 1, Math.max(0, cursor.row + step[0])),
      column: Math.min(columns - 1, Math.max(0, cursor.column + step[1])),
    };
    setCursor(next);
    body.current?.querySelector<HTMLElement>(`[data-cell="${next.row}-${next.column}"]`)?.focus();
  };
  return (
    <div>
      <div class="overflow-x-auto px-4">
        {/* biome-ignore lint/a11y/noNoninteractiveElementToInteractiveRole: arrow keys move between its cells. */}
        <table role="grid" class="w-full border-separate border-spacing-x-0 border-spacing-y-1">
          <caption class="sr-only">Runs by endpoint and time</caption>
          <thead>
            <tr>
              <th scope="col" class="pr-3 text-left text-xs font-medium text-dim">
                Endpoint
              </th>
              <td colSpan={columns} class="p-0">
                <TimeAxis heat={heat} />
              </td>
              <th scope="col" class="pl-3 text-right text-xs font-medium text-dim">
                Total
              </th>
            </tr>
          </thead>
          <tbody ref={body} onKeyDown={move}>
            {all.map((row, index) => (
              <tr key={row.endpoint?.endpoint ?? (index === 0 ? 'all' : 'rest')}>
                <RowHeading row={row} isTotal={index === 0} />
                {row.cells.map((value, column) => (
                  <Cell
                    key={heat.starts[column]}
                    name={`${index}-${column}`}
                    value={value}
                    level={heatLevel(value, index === 0 ? heat.totalMax : heat.cellMax)}
                    label={describeCell(heat, row, index === 0, column)}
                    isBusiest={index === 0 && heat.busiest.has(column)}
                    isCurrent={cursor.row === index && cursor.column === column}
                    onPoint={() => setCursor({ row: index, column })}
                  />
                ))}
                <td class="pl-3 text-right tabular-nums">{formatCount(row.total)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      <p class="min-h-9 px-4 pt-2 text-sm text-dim">
        {describeCell(heat, all[cursor.row], cursor.row === 0, cursor.column)}
      </p>
    </div>
  );
}

function RowHeading({ row, isTotal }: { readonly row: HeatRow; readonly isTotal: boolean }) {
  const { endpoint } = row;
  return (
    <th scope="row" class="w-28 max-w-32 pr-3 text-left font-normal sm:w-56 sm:max-w-64">
      {isTotal ? (
        <strong class="font-semibold">All</strong>
      ) : endpoint?.endpoint_id ? (
        <a class="link" href={hrefInProject(`endpoints/${endpoint.endpoint_id}`)}>
          <EndpointName text={endpoint.name ?? endpoint.url ?? endpoint.endpoint_id} />
        </a>
      ) : endpoint?.endpoint ? (
        <EndpointName text={endpoint.url ?? endpoint.endpoint} />
      ) : (
        <span class="text-dim">other endpoints</span>
      )}
    </th>
  );
}

/** One line, since rows of the same height can be compared. */
function EndpointName({ text }: { readonly text: string }) {
  const charactersMax = useIsNarrow() ? HEADING_NARROW_CHARACTERS_MAX : HEADING_CHARACTERS_MAX;
  return (
    <span class="block truncate" title={text}>
      {truncateMiddle(text.replace(/^https?:\/\//, ''), charactersMax)}
    </span>
  );
}

function Cell({
  name,
  value,
  level,
  label,
  isBusiest,
  isCurrent,
  onPoint,
}: {
  readonly name: string;
  readonly value: number;
  readonly level: number;
  readonly label: string;
  readonly isBusiest: boolean;
  readonly isCurrent: boolean;
  readonly onPoint: () => void;
}) {
  return (
    <td
      data-cell={name}
      tabIndex={isCurrent ? 0 : -1}
      aria-label={label}
      class={`relative h-6 min-w-1.5 border-r border-card p-0 ${FILLS[level] ?? FILLS[0]} ${isCurrent ? 'outline-2 -outline-offset-2 outline-ink' : ''}`}
      onFocus={onPoint}
      onPointerEnter={onPoint}
    >
      {isBusiest ? (
        <span
          class="absolute -top-3.5 left-1/2 -translate-x-1/2 text-dim"
          title={`Busiest: ${formatCount(value)}`}
        >
          <Icon name="chevron" size={12} />
        </span>
      ) : null}
    </td>
  );
}

/** Whether a time of day alone would be ambiguous. */
export function isLongerThanADay({ stepMs, starts }: Heat): boolean {
  return stepMs * starts.length > 25 * 3_600_000;
}

function TimeAxis({ heat }: { readonly heat: Heat }) {
  const zone = displayZone.value;
  const every = Math.max(1, Math.ceil(heat.starts.length / LABELS_MAX));
  const isNarrow = useIsNarrow();
  const isLong = isLongerThanADay(heat);
  return (
    <div aria-hidden="true" class="relative mb-3 h-4 text-xs font-normal text-dim tabular-nums">
      {heat.starts.map((at, index) =>
        index % every === 0 ? (
          <span
            key={at}
            class={`absolute whitespace-nowrap ${(index / every) % 2 === 1 ? 'max-sm:hidden' : ''}`}
            style={{ left: `${(index / heat.starts.length) * 100}%` }}
          >
            {formatInstant(at, zone, !isLong ? 'time' : isNarrow ? 'day' : 'minute')}
          </span>
        ) : null,
      )}
    </div>
  );
}

/** Few enough for the two lines below the table, so that the page does not move. */
const DESCRIBED_CHARACTERS_MAX = 48;

function describeCell(heat: Heat, row: HeatRow | undefined, isTotal: boolean, column: number): string {
  const start = heat.starts[column];
  if (start === undefined || row === undefined) return '';
  const zone = displayZone.value;
  const from = formatInstant(start, zone, 'minute');
  const until = formatInstant(start + heat.stepMs, zone, 'time');
  const { endpoint } = row;
  const name = endpoint?.name ?? endpoint?.url ?? endpoint?.endpoint ?? 'other endpoints';
  const where = isTotal ? 'in all' : `to ${truncateMiddle(name, DESCRIBED_CHARACTERS_MAX)}`;
  return `${from} to ${until}: ${plural(row.cells[column] ?? 0, 'run')} ${where}`;
}
