/** All statements that change data, and their checks. Hot ones are in the order in which they lock rows. */
import {
  makeHotStatements,
  type OwnStatementName,
  type StatementName,
} from '#src/store/sql/hot-statements.ts';
import { EVERY_KIND, EVERY_STATE, LABEL_COLUMNS } from '#src/store/sql/label-rows.ts';
import { SHARED_STATEMENTS, type SharedStatementName } from '#src/store/sql/statements.ts';
import { rows } from './array-rows.ts';
import { earlierPayloadStatements } from './earlier-payloads.ts';
import type { Placement } from './placement.ts';
import {
  deletion,
  matching,
  positionsOf,
  rowsIn,
  type Statement,
  sharedStatement,
  statementMaker,
  type Text,
} from './statement-builders.ts';
import { sweepStatements } from './sweep-statements.ts';

export function statements(placement: Placement): Readonly<Record<StatementName, Statement>> {
  const own = ownStatements(placement);
  const shared = Object.fromEntries(
    Object.entries(SHARED_STATEMENTS).map(([name, statement]) => [
      name,
      sharedStatement(placement, statement),
    ]),
  ) as Readonly<Record<SharedStatementName, Statement>>;
  return { ...makeHotStatements(statementMaker(placement), (name) => own[name]), ...shared };
}

const LABEL_KEY = ['partition', 'digest', 'schedule_id'];
const LABEL = {
  key: positionsOf(LABEL_COLUMNS, LABEL_KEY),
  table: 'schedule_labels',
  access: 'write',
} as const;
const COMPLETED_LABEL = ['state', 'partition', 'digest', 'was_state', 'kind', 'schedule_id'];
const GATE = { key: [0, 1], table: 'gates', access: 'write' } as const;
const OF_ENDPOINT = ['partition', 'endpoint_digest'];

function ownStatements(placement: Placement): Readonly<Record<OwnStatementName, Text>> {
  return {
    // The lease must not end during the transaction. This lock lets renewals pass.
    nodeLives: {
      sql: `SELECT r.node FROM ${rows(['node'])} JOIN nodes AS r ON r.node = t.node FOR KEY SHARE OF r`,
      key: [0],
      table: 'nodes',
      access: 'read',
    },
    // A slot that is locked by a writer is left for the next round. A node that waits could not renew its lease.
    takeSlot: {
      sql: `UPDATE slots AS r SET owner = free.node, epoch = r.epoch + 1
         FROM (SELECT t.node, t.slot FROM ${rows(['node', 'slot', 'epoch'])}
           JOIN slots AS s ON s.slot = t.slot AND s.epoch = t.epoch FOR NO KEY UPDATE OF s SKIP LOCKED) AS free
         WHERE r.slot = free.slot AND NOT EXISTS (SELECT 1 FROM nodes n WHERE n.node = r.owner)
         RETURNING r.slot`,
      key: [1],
      table: 'slots',
      access: 'write',
    },
    releaseSlot: {
      sql: `UPDATE slots AS r SET owner = NULL FROM ${rows(['slot', 'node', 'epoch'])}
         WHERE r.slot = t.slot AND r.owner = t.node AND r.epoch = t.epoch`,
      key: [0],
      table: 'slots',
      access: 'write',
    },
    slotHeld: {
      sql: `SELECT r.slot, r.owner, r.epoch FROM ${rows(['slot', 'node', 'epoch'])}
         JOIN slots AS r ON r.slot = t.slot AND r.owner = t.node AND r.epoch = t.epoch FOR SHARE OF r`,
      key: [0],
      match: [0, 1, 2],
      table: 'slots',
      access: 'read',
    },

    // The replacement has locked the profile, so this sees all objects that were added before.
    profileUnused: {
      ...placement.tableText(
        ['partition', 'endpoint_id', 'notifies_from', 'notifies_until'],
        ({ table, value }) => `SELECT ${value('partition')} AS partition, t.endpoint_id
         FROM ${table} WHERE EXISTS (
           SELECT 1 FROM schedules s WHERE s.partition = ${value('partition')} AND s.endpoint_id = t.endpoint_id
             AND s.endpoint_id IS NOT NULL AND s.state IN ('active', 'paused'))
         OR EXISTS (
           SELECT 1 FROM schedules s WHERE s.partition = ${value('partition')} AND s.notify >= t.notifies_from
             AND s.notify < t.notifies_until AND s.state IN ('active', 'paused'))
         OR EXISTS (
           SELECT 1 FROM endpoint_profiles p WHERE p.partition = ${value('partition')} AND p.notify >= t.notifies_from
             AND p.notify < t.notifies_until AND p.archived = 0 AND p.id <> t.endpoint_id)`,
      ),
      scans: true,
      key: [0, 1],
      table: 'endpoint_profiles',
      access: 'read',
    },

    ...sweepStatements(placement),
    ...earlierPayloadStatements(placement),

    deleteLabel: {
      ...LABEL,
      ...deletion(
        placement,
        'schedule_labels',
        LABEL_KEY,
        (source) =>
          `${matching(LABEL_KEY, source)} AND r.state IN (${EVERY_STATE}) AND r.kind IN (${EVERY_KIND})`,
      ),
      key: [0, 1, 2],
    },
    completeLabel: {
      ...LABEL,
      ...placement.text(
        COMPLETED_LABEL,
        (
          source,
        ) => `UPDATE schedule_labels AS r SET state = ${source.value('state')} ${rowsIn('FROM', source)}
         WHERE ${matching([...LABEL_KEY, 'kind'], source)} AND r.state = ${source.value('was_state')}`,
      ),
      key: positionsOf(COMPLETED_LABEL, LABEL_KEY),
    },
    insertLabel: {
      ...LABEL,
      ...placement.insertText('schedule_labels', LABEL_COLUMNS, 'ON CONFLICT DO NOTHING'),
    },

    // The digest stands in for the endpoint, which may be too long for an index.
    removeGate: {
      ...GATE,
      ...deletion(placement, 'gates', ['partition', 'endpoint', 'endpoint_digest'], (source) =>
        matching(OF_ENDPOINT, source),
      ),
    },
    removeOldGate: {
      ...GATE,
      ...deletion(
        placement,
        'gates',
        ['partition', 'endpoint', 'now', 'endpoint_digest'],
        (source) => `${matching(OF_ENDPOINT, source)} AND r.saved_at < ${source.value('now')}`,
      ),
    },
    saveGate: {
      ...GATE,
      ...placement.insertText(
        'gates',
        ['partition', 'endpoint', 'state', 'saved_at', 'endpoint_digest'],
        'ON CONFLICT (partition, endpoint_digest) DO UPDATE SET state = excluded.state, saved_at = excluded.saved_at',
      ),
    },
  };
}
