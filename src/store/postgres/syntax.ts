/** SQL that PostgreSQL writes in another way, and what its planner needs to follow an index. */
import type { Syntax } from '#src/store/sql/dialect.ts';
import { endpointDigest, labelBytes } from '#src/store/sql/digests.ts';
import { raw, sql } from '#src/store/sql/query.ts';
import { firstOfEach } from '#src/store/sql/scans.ts';
import { STATE_KEY, STATUS_KEY } from './migrations.ts';
import { chosenByPlanner } from './placement.ts';

export const SYNTAX: Syntax = {
  indexedBy: chosenByPlanner,
  longText: (column) => column,
  // Bytes are compared, as in all other comparisons.
  lower: (text) => sql`lower(${text} COLLATE "C")`,
  positionOf: 'strpos',
  isOneOf: (column, values) => sql`${raw(column)} = ANY(${values}::text[])`,
  isDigestOfOne: (column, labels) =>
    sql`${raw(column)} = ANY(${labels.map((label) => labelBytes(...label))}::bytea[])`,
  isGateOf: (endpoint) => sql`endpoint_digest = ${endpointDigest(endpoint)}`,
  // A range of one expression. The planner cannot take another index for its order.
  ofState: (state, kind, before) => ({
    condition: sql`${raw(STATE_KEY)} >= ${`${state}/${kind}/`} AND ${raw(STATE_KEY)} < ${`${state}/${kind}/${before}`}`,
    order: STATE_KEY,
  }),
  ofStatus: (status, from, before) => ({
    condition: sql`${raw(STATUS_KEY)} >= ${`${status}/${from}`} AND ${raw(STATUS_KEY)} < ${`${status}/${before}`}`,
    order: STATUS_KEY,
  }),
  merge: (scans, limit) =>
    sql`SELECT * FROM (${firstOfEach(scans, limit)}) a ORDER BY id DESC LIMIT ${limit}`,
  scansCarryRows: true,
};
