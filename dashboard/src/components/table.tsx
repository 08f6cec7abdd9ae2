/** A table. Where it has little width, each row is a card whose cells show their own headings. */
import type { ComponentChildren } from 'preact';

export interface Column<Row> {
  readonly heading: string;
  readonly cell: (row: Row) => ComponentChildren;
  /** Whether this column names the row. A table has one. */
  readonly isRowHeading?: boolean;
  readonly isFigure?: boolean;
  /** The buttons of a row: the heading is for screen readers only. */
  readonly isActions?: boolean;
  readonly className?: string;
}

export interface TableProps<Row> {
  /** The title of the table, for screen readers. */
  readonly caption: string;
  readonly columns: readonly Column<Row>[];
  readonly rows: readonly Row[];
  readonly rowKey: (row: Row) => string;
  /** Whether it stays a table on phones, so that figures can be compared. */
  readonly isPlain?: boolean;
}

export function Table<Row>({ caption, columns, rows, rowKey, isPlain = false }: TableProps<Row>) {
  return (
    <div class="table-frame">
      <table class={`data-table ${isPlain ? '' : 'cards'}`}>
        <caption class="sr-only">{caption}</caption>
        <thead>
          <tr>
            {columns.map((column) => (
              <th key={column.heading} scope="col" class={column.isFigure === true ? 'figure' : ''}>
                {column.isActions === true ? <span class="sr-only">{column.heading}</span> : column.heading}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={rowKey(row)}>
              {columns.map((column) => (
                <Cell key={column.heading} column={column} row={row} />
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Cell<Row>({ column, row }: { readonly column: Column<Row>; readonly row: Row }) {
  const kind = column.isActions === true ? 'actions' : column.isFigure === true ? 'figure' : '';
  const className = `${kind} ${column.className ?? ''}`;
  if (column.isRowHeading === true) {
    return (
      <th scope="row" class={className}>
        {column.cell(row)}
      </th>
    );
  }
  const label = column.isActions === true ? undefined : column.heading;
  return (
    <td class={className} data-label={label}>
      {column.cell(row)}
    </td>
  );
}
