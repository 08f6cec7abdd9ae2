/** The nodes of the cluster and the slots that they own. */
import type { Overview } from '../../../../src/control/http/data-contract.ts';
import { Badge } from '../../components/badge.tsx';
import { Relative } from '../../components/instant.tsx';
import { Card } from '../../components/page.tsx';
import { type Column, Table } from '../../components/table.tsx';
import { formatCount, plural } from '../../format.ts';

type Node = NonNullable<Overview['nodes']>[number];

const COLUMNS: readonly Column<Node>[] = [
  {
    heading: 'Node',
    isRowHeading: true,
    cell: ({ node, is_this }) => (
      <span>
        {node} {is_this ? <span class="text-dim">(this node)</span> : null}
      </span>
    ),
  },
  {
    heading: 'State',
    cell: ({ is_stopping }) =>
      is_stopping ? (
        <Badge tone="warn" icon="hourglass">
          Stopping
        </Badge>
      ) : (
        <Badge tone="good" icon="check">
          Working
        </Badge>
      ),
  },
  { heading: 'Version', cell: ({ version }) => version },
  { heading: 'Lease ends', cell: ({ lease_until }) => <Relative at={lease_until} /> },
  { heading: 'Slots', isFigure: true, cell: ({ slots }) => formatCount(slots) },
];

export function Cluster({
  nodes,
  freeSlots,
}: {
  readonly nodes: readonly Node[];
  readonly freeSlots: number;
}) {
  return (
    <Card
      title="Nodes"
      isFlush
      actions={
        freeSlots === 0 ? undefined : (
          <Badge
            tone="warn"
            icon="warning"
            title="Deliveries in these slots wait until a node owns them. That should take seconds."
          >
            {`${plural(freeSlots, 'slot')} without a node`}
          </Badge>
        )
      }
    >
      <Table caption="Nodes and their slots" columns={COLUMNS} rows={nodes} rowKey={({ node }) => node} />
    </Card>
  );
}
