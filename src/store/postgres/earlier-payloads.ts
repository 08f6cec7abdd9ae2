/** The statements of earlier versions of payloads. */
import { payloadUse } from '#src/store/sql/payload-versions.ts';
import { chosenByPlanner, type PlacedText, type Placement, type RowSource } from './placement.ts';
import { deletion, matching, positionsOf, rowsIn, type Text, tables } from './statement-builders.ts';

const VERSION = ['partition', 'schedule_id', 'version'];
const COPIED = ['partition', 'schedule_id', 'version', 'since_id'];

/** It is checked once more later: retention may be removing the delivery that is found here, and marks no row yet. */
function insertion({ tableText }: Placement): PlacedText {
  return tableText([...VERSION, 'last_id'], (source) => {
    const { value } = source;
    const use = payloadUse(chosenByPlanner, {
      partition: value('partition'),
      scheduleId: value('schedule_id'),
      version: value('version'),
      sinceId: 'p.since_id',
      lastId: value('last_id'),
    });
    return `INSERT INTO earlier_payloads (${COPIED.join(', ')}, last_id, check_at, sealed)
      SELECT ${COPIED.map((column) => `p.${column}`).join(', ')}, ${value('last_id')}, 0, p.sealed
      FROM ${tables(source, 'payloads p')}
      WHERE p.partition = ${value('partition')} AND p.schedule_id = ${value('schedule_id')}
        AND p.version = ${value('version')} AND ${use} <> 'none'`;
  });
}

/** `columns`: the parameters in their order. */
function update(
  { text }: Placement,
  columns: readonly string[],
  assignment: (source: RowSource) => string,
  condition: (source: RowSource) => string = () => '',
): Pick<Text, 'sql' | 'key'> {
  return {
    ...text(
      columns,
      (source) => `UPDATE earlier_payloads AS r SET ${assignment(source)} ${rowsIn('FROM', source)}
        WHERE ${matching(VERSION, source)}${condition(source)}`,
    ),
    key: positionsOf(columns, VERSION),
  };
}

export function earlierPayloadStatements(placement: Placement) {
  const ofVersion = { key: [0, 1, 2], table: 'earlier_payloads', access: 'write' } as const;
  return {
    insertEarlierPayload: { ...ofVersion, ...insertion(placement), scans: true },
    extendEarlierPayload: {
      ...ofVersion,
      ...update(
        placement,
        ['last_id', ...VERSION],
        ({ value }) => `last_id = greatest(r.last_id, ${value('last_id')})`,
      ),
    },
    checkEarlierPayload: { ...ofVersion, ...update(placement, VERSION, () => 'check_at = 0') },
    keepEarlierPayload: {
      ...ofVersion,
      ...update(
        placement,
        ['check_at', ...VERSION, 'was_check_at'],
        ({ value }) => `check_at = ${value('check_at')}`,
        ({ value }) => ` AND r.check_at = ${value('was_check_at')}`,
      ),
    },
    removeEarlierPayload: {
      ...ofVersion,
      ...deletion(placement, 'earlier_payloads', [...VERSION, 'last_id'], (source) =>
        matching([...VERSION, 'last_id'], source),
      ),
    },
  } satisfies Readonly<Record<string, Text>>;
}
