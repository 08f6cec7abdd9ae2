/** SQL that SQLite writes in another way, and what its planner needs to follow an index. */
import type { EndpointId } from '#src/domain/id.ts';
import type { Syntax } from '#src/store/sql/dialect.ts';
import { joined, type Query, raw, sql } from '#src/store/sql/query.ts';
import { NEWEST_FIRST } from '#src/store/sql/scans.ts';
import { indexedBy, tellsOf } from './statement-builders.ts';

export const SYNTAX: Syntax = {
  indexedBy,
  // Node decodes a long text that is not ASCII much faster than the SQLite driver.
  longText: (column) => `CAST(${column} AS BLOB)`,
  lower: (text) => sql`lower(${text})`,
  positionOf: 'instr',
  isOneOf: (column, values) =>
    sql`${raw(column)} IN (SELECT value FROM json_each(${JSON.stringify(values)}))`,
  isDigestOfOne: (column, digests) =>
    sql`${raw(column)} IN (SELECT unhex(value) FROM json_each(${JSON.stringify(digests)}))`,
  isGateOf: (endpoint) => sql`endpoint = ${endpoint}`,
  ofState: (state, kind, before, endpointId) => ({
    condition: sql`${ofProfile('s.endpoint_id', endpointId)}
      s.state = ${state} AND s.kind = ${kind} AND s.id < ${before}`,
    order: 's.id DESC',
  }),
  ofStatus: (status, from, before, endpointId) => ({
    condition: sql`${ofProfile('endpoint_id', endpointId)} status = ${status} AND id >= ${from} AND id < ${before}`,
    order: 'id DESC',
  }),
  ofOrigin: (column, origin, from, before) => ({
    condition: sql`${raw(column)} = ${origin} AND id >= ${from} AND id < ${before}`,
    order: 'id DESC',
  }),
  tellsOf,
  ofOutcome: (outcome, endpointId) => sql`${ofProfile('endpoint_id', endpointId)} outcome = ${outcome}`,
  // SQLite merges scans row by row, so none reads more than it must.
  merge: (scans, limit, order = NEWEST_FIRST) =>
    sql`${joined(
      scans.map(({ rows }) => rows),
      ' UNION ALL ',
    )} ORDER BY ${raw(order)} LIMIT ${limit}`,
  scansCarryRows: false,
};

function ofProfile(column: string, endpointId: EndpointId | null): Query {
  return endpointId === null ? raw('') : sql`${raw(column)} = ${endpointId} AND`;
}
