/** The attempts of a delivery as a table. */
import { formatMs } from '../format.ts';
import { type AttemptRow, outcomeLabel } from '../model/waterfall.ts';
import { displayZone, formatInstant } from '../time.ts';
import { type Column, Table } from './table.tsx';

function since(
  heading: string,
  figure: (attempt: AttemptRow['attempt']) => number | null,
): Column<AttemptRow> {
  const text = (ms: number | null) => (ms === null ? '–' : formatMs(ms));
  return {
    heading,
    isFigure: true,
    className: 'whitespace-nowrap',
    cell: ({ attempt }) => text(figure(attempt)),
  };
}

const COLUMNS: readonly Column<AttemptRow>[] = [
  { heading: 'Attempt', isRowHeading: true, cell: ({ attempt }) => attempt.attempt_no },
  {
    heading: 'Outcome',
    cell: ({ attempt }) =>
      outcomeLabel(attempt) + (attempt.status_code === null ? '' : ` (${attempt.status_code})`),
  },
  {
    heading: 'Due',
    className: 'whitespace-nowrap',
    cell: ({ attempt }) => formatInstant(attempt.due_at, displayZone.value, 'exact'),
  },
  since('Lateness', ({ lateness_ms }) => lateness_ms),
  since('Connected', ({ connected_ms }) => connected_ms),
  since('First byte', ({ first_byte_ms }) => first_byte_ms),
  since('End', ({ end_ms }) => end_ms),
];

export function AttemptsTable({ all }: { readonly all: readonly AttemptRow[] }) {
  return (
    <Table
      caption="Attempts, with times since the start of each"
      columns={COLUMNS}
      rows={all}
      rowKey={({ attempt }) => String(attempt.attempt_no)}
    />
  );
}
