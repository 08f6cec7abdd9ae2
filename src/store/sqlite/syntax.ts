/** SQL that SQLite writes in another way, and what its planner needs to follow an index. */
import { labelDigest } from '#src/domain/labels.ts';
import type { Syntax } from '#src/store/sql/dialect.ts';
import { joined, raw, sql } from '#src/store/sql/query.ts';
import { indexedBy } from './statement-builders.ts';

export const SYNTAX: Syntax = {
  indexedBy,
  // Node decodes a long text that is not ASCII much faster than the SQLite driver.
  longText: (column) => `CAST(${column} AS BLOB)`,
  lower: (text) => sql`lower(${text})`,
  positionOf: 'instr',
  isOneOf: (column, values) =>
    sql`${raw(column)} IN (SELECT value FROM json_each(${JSON.stringify(values)}))`,
  isDigestOfOne: (column, labels) => {
    const digests = JSON.stringify(labels.map((label) => labelDigest(...label)));
    return sql`${raw(column)} IN (SELECT unhex(value) FROM json_each(${digests}))`;
  },
  isGateOf: (endpoint) => sql`endpoint = ${endpoint}`,
  ofState: (state, kind, before) => ({
    condition: sql`s.state = ${state} AND s.kind = ${kind} AND s.id < ${before}`,
    order: 's.id',
  }),
  ofStatus: (status, from, before) => ({
    condition: sql`status = ${status} AND id >= ${from} AND id < ${before}`,
    order: 'id',
  }),
  // SQLite merges scans row by row, so none reads more than it must.
  merge: (scans, limit) =>
    sql`${joined(
      scans.map(({ rows }) => rows),
      ' UNION ALL ',
    )} ORDER BY id DESC LIMIT ${limit}`,
  scansCarryRows: false,
};
