/** The indexes that dashboard queries must use, on the tables of `plans.test.ts`. */
import type { EndpointId, ScheduleId } from '#src/domain/id.ts';
import { instant } from '#src/domain/instant.ts';
import type { Partition } from '#src/domain/project.ts';
import type { InsightStore } from '#src/ports/insight-store.ts';
import { ALL_DELIVERIES, ALL_SCHEDULES } from '#test/store-contract/everything.ts';

const LARGE = 1 as Partition;
const SCHEDULE = 'sch_00000003' as ScheduleId;
const PROFILE = 'ep_00000003' as EndpointId;
const PAGE = { before: null, limit: 20 };
const SCANNED_MAX = 60;
const WINDOW = [instant(0), instant(6_000)] as const;
const ALL = { ...ALL_SCHEDULES, destination: null, hidesQueries: false };
const OF_PROFILES = ['endpoint_profile_versions_pkey', 'endpoint_profiles_pkey'];

/** Each query with its indexes, and how many rows it may read. */
export const INSIGHT_PLANS: readonly (readonly [
  string,
  (insight: InsightStore) => Promise<unknown>,
  readonly string[],
  number,
])[] = [
  ['stats', (insight) => insight.readStats(LARGE, 60_000, ...WINDOW), ['stats_pkey'], 0],
  [
    'what is due',
    (insight) => insight.countDue(LARGE, ...WINDOW, 100, 5_000),
    ['deliveries_due_of_partition'],
    200,
  ],
  [
    'what is due, past too much of others',
    (insight) => insight.countDue(2 as Partition, ...WINDOW, 100, 50),
    ['deliveries_due_of_partition'],
    2,
  ],
  [
    'schedules of a destination',
    (insight) =>
      insight.searchSchedules(LARGE, { ...ALL, destination: 'a', hidesQueries: true }, PAGE, SCANNED_MAX),
    [...OF_PROFILES, 'schedules_pkey'],
    // 500 profiles, each with its version and its head, which a bitmap scan counts twice.
    SCANNED_MAX + 3 * 500,
  ],
  [
    'schedules of a state',
    (insight) => insight.searchSchedules(LARGE, { ...ALL, state: 'paused' }, PAGE, SCANNED_MAX),
    ['schedules_by_state'],
    0,
  ],
  [
    'a count of a status',
    (insight) => insight.countDeliveries(LARGE, { ...ALL_DELIVERIES, status: 'succeeded' }, 50),
    ['deliveries_by_status'],
    50,
  ],
  [
    'a count of a schedule',
    (insight) => insight.countDeliveries(LARGE, { ...ALL_DELIVERIES, scheduleId: SCHEDULE }, 50),
    ['deliveries_of_schedule'],
    1,
  ],
  [
    'whether a profile sends payloads',
    (insight) => insight.hasPayloads(LARGE, PROFILE),
    ['schedules_with_body_by_profile'],
    0,
  ],
  [
    'what comes up',
    (insight) => insight.listUpcoming(2 as Partition, ...WINDOW, 10),
    ['deliveries_due_of_partition', 'deliveries_pkey', 'schedules_pkey'],
    // Two deliveries wait, and each is joined with its schedule.
    6,
  ],
  [
    'occurrences',
    (insight) => insight.listOccurrences(LARGE, SCHEDULE, ...WINDOW, 50),
    ['deliveries_occurrence'],
    1,
  ],
];
