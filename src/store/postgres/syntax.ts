/** SQL that PostgreSQL writes in another way, and what its planner needs to follow an index. */
import type { IndexRange, OriginColumn, Syntax } from '#src/store/sql/dialect.ts';
import { digestBytes, endpointDigest } from '#src/store/sql/digests.ts';
import { raw, sql } from '#src/store/sql/query.ts';
import { firstOfEach, NEWEST_FIRST } from '#src/store/sql/scans.ts';
import {
  ENDPOINT_OUTCOME_KEY,
  ENDPOINT_STATE_KEY,
  ENDPOINT_STATUS_KEY,
  NOTIFICATION_KEY,
  OUTCOME_KEY,
  REPLAY_KEY,
  STATE_KEY,
  STATUS_KEY,
} from './migrations.ts';
import { chosenByPlanner } from './placement.ts';
import { tellsOf } from './statement-builders.ts';

export const SYNTAX: Syntax = {
  indexedBy: chosenByPlanner,
  longText: (column) => column,
  // Bytes are compared, as in all other comparisons.
  lower: (text) => sql`lower(${text} COLLATE "C")`,
  positionOf: 'strpos',
  isOneOf: (column, values) => sql`${raw(column)} = ANY(${values}::text[])`,
  isDigestOfOne: (column, digests) => sql`${raw(column)} = ANY(${digests.map(digestBytes)}::bytea[])`,
  isGateOf: (endpoint) => sql`endpoint_digest = ${endpointDigest(endpoint)}`,
  ofState: (state, kind, before, endpointId) =>
    endpointId === null
      ? rangeOf(STATE_KEY, `${state}/${kind}/`, '', before)
      : rangeOf(ENDPOINT_STATE_KEY, `${endpointId}/${state}/${kind}/`, '', before, OF_PROFILE),
  ofStatus: (status, from, before, endpointId) =>
    endpointId === null
      ? rangeOf(STATUS_KEY, `${status}/`, from, before)
      : rangeOf(ENDPOINT_STATUS_KEY, `${endpointId}/${status}/`, from, before, OF_PROFILE),
  ofOrigin: (column, origin, from, before) =>
    rangeOf(ORIGIN_KEYS[column], `${origin}/`, from, before, `${column} IS NOT NULL AND`),
  tellsOf,
  ofOutcome: (outcome, endpointId) =>
    endpointId === null
      ? sql`${raw(OUTCOME_KEY)} = ${outcome}`
      : sql`${raw(OF_PROFILE)} ${raw(ENDPOINT_OUTCOME_KEY)} = ${`${endpointId}/${outcome}`}`,
  merge: (scans, limit, order = NEWEST_FIRST) =>
    sql`SELECT * FROM (${firstOfEach(scans, limit)}) a ORDER BY ${raw(order)} LIMIT ${limit}`,
  scansCarryRows: true,
};

/** The planner takes an index of some rows only if the query says that it wants no others. */
const OF_PROFILE = 'endpoint_id IS NOT NULL AND';
const ORIGIN_KEYS: Readonly<Record<OriginColumn, string>> = {
  replay_of: REPLAY_KEY,
  notification_of: NOTIFICATION_KEY,
};

/** A range of one expression. The planner cannot take another index for its order. */
function rangeOf(key: string, head: string, from: string, before: string, some = ''): IndexRange {
  return {
    condition: sql`${raw(some)} ${raw(key)} >= ${`${head}${from}`} AND ${raw(key)} < ${`${head}${before}`}`,
    order: `${key} DESC`,
  };
}
