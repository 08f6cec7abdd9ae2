/** The figures of the waterfall as a table. */
import { milliseconds } from '../format.ts';
import { outcomeWord, type Row } from '../model/waterfall.ts';
import { formatInstant, shownZone } from '../time.ts';
import { type Column, Table } from './table.tsx';

function since(heading: string, figure: (attempt: Row['attempt']) => number | null): Column<Row> {
  const text = (ms: number | null) => (ms === null ? '–' : milliseconds(ms));
  return {
    heading,
    isFigure: true,
    className: 'whitespace-nowrap',
    cell: ({ attempt }) => text(figure(attempt)),
  };
}

const COLUMNS: readonly Column<Row>[] = [
  { heading: 'Attempt', isRowHeading: true, cell: ({ attempt }) => attempt.attempt_no },
  {
    heading: 'Outcome',
    cell: ({ attempt }) =>
      outcomeWord(attempt) + (attempt.status_code === null ? '' : ` (${attempt.status_code})`),
  },
  {
    heading: 'Due',
    className: 'whitespace-nowrap',
    cell: ({ attempt }) => formatInstant(attempt.due_at, shownZone.value, 'exact'),
  },
  since('Late', ({ lateness_ms }) => lateness_ms),
  since('Connected', ({ connected_ms }) => connected_ms),
  since('First byte', ({ first_byte_ms }) => first_byte_ms),
  since('End', ({ end_ms }) => end_ms),
];

export function AttemptsTable({ all }: { readonly all: readonly Row[] }) {
  return (
    <Table
      caption="Attempts, with times after the fire"
      columns={COLUMNS}
      rows={all}
      rowKey={({ attempt }) => String(attempt.attempt_no)}
    />
  );
}
