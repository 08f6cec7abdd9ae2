/**
 * Reads that must follow an index in every database, and the indexes: each with the columns that narrow it. SQLite
 * tells the columns. PostgreSQL tells how many rows it read, from the tables of its `plans.test.ts`.
 */
import type { EndpointKey } from '#src/domain/endpoint-key.ts';
import type {
  AlertChannelId,
  AlertConditionId,
  AlertIncidentId,
  AttemptId,
  DeliveryId,
  EndpointId,
  JobId,
  ScheduleId,
} from '#src/domain/id.ts';
import { instant } from '#src/domain/instant.ts';
import { type Labels, labelDigest } from '#src/domain/labels.ts';
import type { Partition } from '#src/domain/project.ts';
import type { AttemptFilter, DeliveryFilter, ListFilter, ScheduleSearch } from '#src/ports/lists.ts';
import type { Prunable } from '#src/ports/store.ts';
import { SqlAlerts } from '#src/store/sql/alerts.ts';
import type { OldestStatsQueries, SqlReader, SqlWriter, Syntax } from '#src/store/sql/dialect.ts';
import { lists } from '#src/store/sql/lists.ts';
import { notificationReads } from '#src/store/sql/notification-reads.ts';
import type { Query } from '#src/store/sql/query.ts';
import { keyedReads } from '#src/store/sql/reads.ts';
import { SqlReplayJobs } from '#src/store/sql/replay-jobs.ts';
import { retentionQueries } from '#src/store/sql/retention.ts';
import { countsQuery, deliveryScanQuery, scanQuery } from '#src/store/sql/search-queries.ts';
import { wantedSchedules } from '#src/store/sql/searches.ts';
import { makeSqlInsight } from '#src/store/sql/sql-insight.ts';
import type { makeVerbs } from '#src/store/sql/verbs.ts';
import { START } from '#test/store-contract/builders.ts';
import { ALL_DELIVERIES, ALL_SCHEDULES, ANY_SCHEDULES } from '#test/store-contract/everything.ts';

const UNWRITTEN: SqlWriter = { run: async () => 'done', runAll: async () => [] };

export interface PlanDependencies {
  readonly reader: SqlReader;
  readonly syntax: Syntax;
  readonly oldestStats: OldestStatsQueries;
  readonly verbs: ReturnType<typeof makeVerbs>;
}

/** The reads of a store. Nothing is written. */
export function readsOf({ reader, syntax, oldestStats, verbs }: PlanDependencies) {
  const ask = ({ sql, parameters }: Query) => reader.query(sql, ...parameters);
  return {
    ...keyedReads(reader, syntax.longText),
    ...notificationReads(reader, syntax.longText),
    ...lists(reader, syntax),
    insight: makeSqlInsight({
      readers: { api: reader, engine: reader, insight: reader, search: reader },
      writers: { api: UNWRITTEN, firing: UNWRITTEN, membership: UNWRITTEN, maintenance: UNWRITTEN },
      syntax,
      dueRowsMax: 20_000,
      oldestStats,
    }),
    jobs: new SqlReplayJobs(
      { query: (sql, ...values) => reader.query(sql, ...values), run: async () => 'done' },
      verbs,
    ),
    alerts: new SqlAlerts(
      {
        query: (sql, ...values) => reader.query(sql, ...values),
        run: async () => 'done',
      },
      syntax,
    ),
    scan: (given: Partial<ScheduleSearch>, rows: number, position = 0) => {
      const wanted = wantedSchedules({ ...ANY_SCHEDULES, ...given }, position);
      return ask(scanQuery(syntax, LARGE, wanted, null, rows));
    },
    scanDeliveries: (given: Partial<DeliveryFilter>, rows: number) =>
      ask(deliveryScanQuery(syntax, LARGE, { ...ALL_DELIVERIES, ...given }, null, rows)),
    count: (labels: Labels, endpointId: EndpointId | null, countMax: number) => {
      const digests = labels.map((label) => labelDigest(...label));
      return ask(countsQuery(syntax, LARGE, digests, endpointId, countMax));
    },
    findOld: (what: Prunable, limit: number) => {
      const cursor = what === 'schedules' || what === 'deliveries' ? [0, ''] : [];
      return reader.query(retentionQueries(syntax)[what], ...cursor, START, limit);
    },
  };
}

type Reads = ReturnType<typeof readsOf>;

/** A name, a read, its indexes, and how many rows it may read. */
export type PlanCase = readonly [string, (reads: Reads) => Promise<unknown>, readonly string[], number];

/** The customer that has most rows. */
export const LARGE = 1 as Partition;
export const SCHEDULE = 'sch_00000003' as ScheduleId;
export const DELIVERY = 'dlv_00000003' as DeliveryId;
const ATTEMPT = 'att_00000003' as AttemptId;
export const ENDPOINT = 'ep_3' as EndpointId;
const NO_ENDPOINT = 'ep_none' as EndpointId;
export const ITEM_ENDPOINT = 'https://a.example/' as EndpointKey;
const JOB = 'job_001' as JobId;
const CHANNEL = 'chn_001' as AlertChannelId;
const CONDITION = 'alc_001' as AlertConditionId;
const INCIDENT = 'inc_001' as AlertIncidentId;
const PAGE = { before: null, limit: 20 };
const BATCH = 20;
/** The rows of a page, the rows joined to them, and a scan for each state or status that ends at once. */
const PAGE_ROWS_MAX = 8 * PAGE.limit;
const WINDOW = [instant(0), instant(6_000)] as const;

const COMMON = [['env', 'prod']] as const;
const RARE = [['customer', 'one']] as const;
const ELSEWHERE = [['team', 'a']] as const;
const UNKNOWN: Labels = ['b', 'c', 'd'].map((name) => [name, ''] as const);

/** Labels, and the condition for the schedules that have them. */
export const LABELLED = [
  [COMMON, 'true'],
  [ELSEWHERE, "partition > 1 OR id LIKE '%50'"],
  [RARE, "id < 'sch_00000004'"],
] as const;

const SCHEDULE_KEY = 'schedules_pkey(partition,id)';
const DELIVERY_KEY = 'deliveries_pkey(partition,id)';
const PROFILE_KEY = 'endpoint_profiles_pkey(partition,id)';
const VERSION_KEY = 'endpoint_profile_versions_pkey(partition,endpoint_id,version)';
const LABEL_KEY = 'schedule_labels_pkey(partition,digest,state,kind,schedule_id)';
const STATE = 'schedules_by_state(partition,state,kind,id)';
const STATUS = 'deliveries_by_status(partition,status,id)';
const STATE_OF_PROFILE = 'schedules_of_endpoint(partition,endpoint_id,state,kind,id)';
const STATUS_OF_PROFILE = 'deliveries_of_endpoint(partition,endpoint_id,status,id)';
const REPLAYS = 'deliveries_replays(partition,replay_of,id)';
const NOTIFICATIONS = 'deliveries_notifications(partition,notification_of,id)';
const OUTCOME = 'attempts_by_time(partition,outcome,finished_at,id)';
const OUTCOME_OF_PROFILE = 'attempts_of_endpoint(partition,endpoint_id,outcome,finished_at,id)';
const ATTEMPT_KEY = 'attempts_pkey(partition,delivery_id,attempt_no)';
const OF_SCHEDULE = 'deliveries_of_schedule(partition,schedule_id,status,id)';
const JOINED = [DELIVERY_KEY, PROFILE_KEY, VERSION_KEY];

type Filters<Filter> = readonly (readonly [string, Partial<Filter>, string])[];

const SCHEDULE_LISTS: Filters<ListFilter> = [
  ['all', {}, SCHEDULE_KEY],
  ['of a state and kind', { state: 'active', kind: 'recurring' }, STATE],
  ['of a state that most have', { state: 'completed' }, STATE],
  ['of a state that none has', { state: 'paused' }, STATE],
  ['of a kind', { kind: 'recurring' }, STATE],
  ['with a label that all have', { labels: COMMON }, LABEL_KEY],
  ['with a label that few have', { labels: RARE }, LABEL_KEY],
  ['with a label that others have', { labels: ELSEWHERE }, LABEL_KEY],
  ['with a rare label, of a state', { labels: RARE, state: 'completed' }, LABEL_KEY],
  ['with a common label, of a common state', { labels: COMMON, state: 'completed' }, LABEL_KEY],
  ['with a common label, of a state that none has', { labels: COMMON, state: 'paused' }, LABEL_KEY],
  ['with a common label, of a rare state', { labels: COMMON, state: 'active' }, LABEL_KEY],
  ['with a rare label, of a kind', { labels: RARE, kind: 'one_shot' }, LABEL_KEY],
  ['with a common label, of a rare kind', { labels: COMMON, kind: 'recurring' }, LABEL_KEY],
  [
    'with a common label, of a state and kind that none has',
    { labels: COMMON, state: 'paused', kind: 'recurring' },
    LABEL_KEY,
  ],
];

const PROFILE_LISTS: Filters<ListFilter> = [
  ['of a profile', { endpointId: ENDPOINT }, STATE_OF_PROFILE],
  ['of a profile that none has', { endpointId: NO_ENDPOINT }, STATE_OF_PROFILE],
  ['of a profile, of a state that most have', { endpointId: ENDPOINT, state: 'completed' }, STATE_OF_PROFILE],
  ['of a profile, of a state that none has', { endpointId: ENDPOINT, state: 'paused' }, STATE_OF_PROFILE],
  ['of a profile, of a kind', { endpointId: ENDPOINT, kind: 'recurring' }, STATE_OF_PROFILE],
  ['with a name', { name: 'report' }, LABEL_KEY],
  ['with a name, of a state', { name: 'report', state: 'active' }, LABEL_KEY],
];

const ATTEMPT_LISTS: Filters<AttemptFilter> = [
  ['all', {}, OUTCOME],
  ['of an outcome that most have', { outcome: 'success' }, OUTCOME],
  ['of an outcome that none has', { outcome: 'terminal' }, OUTCOME],
  ['of a profile', { endpointId: ENDPOINT }, OUTCOME_OF_PROFILE],
  ['of a profile that none has', { endpointId: NO_ENDPOINT }, OUTCOME_OF_PROFILE],
  ['of a profile and an outcome', { endpointId: ENDPOINT, outcome: 'success' }, OUTCOME_OF_PROFILE],
];

const DELIVERY_LISTS: Filters<DeliveryFilter> = [
  ['of a profile', { endpointId: ENDPOINT }, STATUS_OF_PROFILE],
  ['of a profile that none has', { endpointId: NO_ENDPOINT }, STATUS_OF_PROFILE],
  ['of a profile and a status', { endpointId: ENDPOINT, status: 'succeeded' }, STATUS_OF_PROFILE],
  ['of a profile, created after', { endpointId: ENDPOINT, createdAfter: START }, STATUS_OF_PROFILE],
  ['that are replays of one', { replayOf: DELIVERY }, REPLAYS],
  ['that are notifications of one', { notificationOf: DELIVERY }, NOTIFICATIONS],
  ['that are replays of one, created before', { replayOf: DELIVERY, createdBefore: START }, REPLAYS],
  ['all', {}, DELIVERY_KEY],
  ['created between', { createdAfter: START, createdBefore: START }, DELIVERY_KEY],
  ['of a status that most have', { status: 'succeeded' }, STATUS],
  ['of a status that few have', { status: 'dead_letter' }, STATUS],
  ['of a status that none has', { status: 'expired' }, STATUS],
  ['of a status, created after', { status: 'succeeded', createdAfter: START }, STATUS],
  ['of a schedule', { scheduleId: SCHEDULE }, OF_SCHEDULE],
  ['of a schedule, created before', { scheduleId: SCHEDULE, createdBefore: START }, OF_SCHEDULE],
  ['of a schedule and a status', { scheduleId: SCHEDULE, status: 'expired' }, OF_SCHEDULE],
];

const SCANNED_MAX = 100;
/** Each label of a row costs one look-up. Some rows at the end of a range are read in vain. */
const SEARCHES = [
  ['two labels', { labels: [...COMMON, ...ELSEWHERE] }],
  ['two labels, of a state', { labels: [...COMMON, ...RARE], state: 'completed' }],
  ['four labels', { labels: [...COMMON, ...UNKNOWN] }],
] as const;

/** `scansCarryRows`: see `Syntax`. If they do not, the schedules of a list are looked up. */
export function listCases({ scansCarryRows }: Syntax): readonly PlanCase[] {
  const schedules = [...SCHEDULE_LISTS, ...PROFILE_LISTS].map(([name, filter, index]): PlanCase => {
    const isLookedUp = index === LABEL_KEY || !scansCarryRows;
    const indexes = [...new Set([...JOINED, index, ...(isLookedUp ? [SCHEDULE_KEY] : [])])];
    const wanted = { ...ALL_SCHEDULES, ...filter } as ListFilter;
    return [`schedules ${name}`, (reads) => reads.listSchedules(LARGE, wanted, PAGE), indexes, PAGE_ROWS_MAX];
  });
  const deliveries = DELIVERY_LISTS.map(([name, filter, index]): PlanCase => {
    const wanted = { ...ALL_DELIVERIES, ...filter };
    return [
      `deliveries ${name}`,
      (reads) => reads.listDeliveries(LARGE, wanted, PAGE),
      [index],
      PAGE_ROWS_MAX,
    ];
  });
  const attempts = ATTEMPT_LISTS.map(([name, filter, index]): PlanCase => {
    const wanted = { outcome: null, endpointId: null, ...filter };
    return [
      `attempts ${name}`,
      (reads) => reads.listRecentAttempts(LARGE, wanted, null, PAGE.limit),
      [ATTEMPT_KEY, DELIVERY_KEY, SCHEDULE_KEY, index],
      PAGE_ROWS_MAX,
    ];
  });
  return [...schedules, ...deliveries, ...attempts];
}

const UNARCHIVED = 'endpoint_profiles_unarchived(partition,id)';
const ITEM_KEY = 'replay_items_pkey(partition,job_id,endpoint_digest)';
const DUE_OF_PARTITION = 'deliveries_due_of_partition(partition,due_at,id)';

export const PLAN_CASES: readonly PlanCase[] = [
  ['profiles', (reads) => reads.listProfiles(LARGE, true, PAGE), [PROFILE_KEY, VERSION_KEY], PAGE_ROWS_MAX],
  [
    'profiles that are not archived',
    (reads) => reads.listProfiles(LARGE, false, PAGE),
    [UNARCHIVED, VERSION_KEY],
    PAGE_ROWS_MAX,
  ],
  ['a schedule', (reads) => reads.findSchedule(LARGE, SCHEDULE), [...JOINED, SCHEDULE_KEY], 4],
  ['a profile', (reads) => reads.findProfile(LARGE, ENDPOINT), [PROFILE_KEY, VERSION_KEY], 4],
  ['a delivery', (reads) => reads.findDelivery(LARGE, DELIVERY), [DELIVERY_KEY], 4],
  [
    'the profile and the size of the labels for a notification',
    (reads) => reads.findNotificationSource(LARGE, ENDPOINT, SCHEDULE),
    [PROFILE_KEY, VERSION_KEY, SCHEDULE_KEY],
    4,
  ],
  [
    'what a notification tells',
    (reads) => reads.findNotificationSubject(LARGE, DELIVERY, 10),
    [
      DELIVERY_KEY,
      SCHEDULE_KEY,
      'attempt_responses_pkey(partition,delivery_id,attempt_no)',
      'attempts_pkey(partition,delivery_id)',
    ],
    6,
  ],
  [
    'attempts, with the one in flight',
    (reads) => reads.listAttempts(LARGE, DELIVERY, 0, 20),
    ['attempts_pkey(partition,delivery_id,attempt_no)', DELIVERY_KEY],
    4,
  ],
  ['headers', (reads) => reads.findProfileHeaders(LARGE, ENDPOINT, 1), [VERSION_KEY], 4],
  ['a receipt', (reads) => reads.findReceipt(LARGE, 'key-3', START), ['receipts_pkey(partition,key)'], 4],
  ...SEARCHES.map(
    ([name, filter]): PlanCase => [
      `a batch of a search by ${name}`,
      (reads) => reads.scan(filter, SCANNED_MAX),
      [LABEL_KEY],
      3 * SCANNED_MAX,
    ],
  ),
  [
    'a batch of a search by destination',
    (reads) => reads.scan({ destination: 'a' }, SCANNED_MAX),
    [VERSION_KEY, PROFILE_KEY, SCHEDULE_KEY],
    4 * SCANNED_MAX,
  ],
  [
    'a batch of a search by profile and label, that scans the profile',
    (reads) => reads.scan({ endpointId: ENDPOINT, labels: COMMON }, SCANNED_MAX, 1),
    [LABEL_KEY, STATE_OF_PROFILE],
    3 * SCANNED_MAX,
  ],
  [
    'a batch of a search by profile and label, that scans the label',
    (reads) => reads.scan({ endpointId: ENDPOINT, labels: COMMON }, SCANNED_MAX),
    [LABEL_KEY, SCHEDULE_KEY],
    3 * SCANNED_MAX,
  ],
  [
    'a batch of a search by profile and destination',
    (reads) => reads.scan({ endpointId: ENDPOINT, destination: 'a' }, SCANNED_MAX),
    [STATE_OF_PROFILE, VERSION_KEY, PROFILE_KEY],
    4 * SCANNED_MAX,
  ],
  [
    'how many schedules a label and a profile have',
    (reads) => reads.count(COMMON, ENDPOINT, SCANNED_MAX),
    ['schedule_labels_pkey(partition,digest)', STATE_OF_PROFILE],
    2 * SCANNED_MAX,
  ],
  [
    'a batch of a search for deliveries of a schedule and a profile',
    (reads) => reads.scanDeliveries({ scheduleId: SCHEDULE, endpointId: ENDPOINT }, SCANNED_MAX),
    [OF_SCHEDULE],
    SCANNED_MAX,
  ],
  [
    'a batch of a search for replays of a status',
    (reads) => reads.scanDeliveries({ replayOf: DELIVERY, status: 'succeeded' }, SCANNED_MAX),
    [REPLAYS],
    SCANNED_MAX,
  ],
  [
    'how common labels are',
    (reads) => reads.count([...COMMON, ...RARE], null, SCANNED_MAX),
    ['schedule_labels_pkey(partition,digest)'],
    2 * SCANNED_MAX,
  ],
  [
    'old deliveries',
    (reads) => reads.findOld('deliveries', BATCH),
    ['deliveries_finalized(finalized_at)', 'deliveries_notifications(partition,notification_of)'],
    3 * BATCH,
  ],
  [
    'old schedules',
    (reads) => reads.findOld('schedules', BATCH),
    ['deliveries_of_schedule(partition,schedule_id)', 'schedules_ended(ended_at,id)'],
    3 * BATCH,
  ],
  ['old receipts', (reads) => reads.findOld('receipts', BATCH), ['receipts_expiring(expires_at)'], 3 * BATCH],
  ['old gates', (reads) => reads.findOld('gates', BATCH), ['gates_by_saved_at(saved_at)'], 3 * BATCH],
  ['a replay job', ({ jobs }) => jobs.findJob(LARGE, JOB), ['replay_jobs_pkey(partition,id)'], 1],
  ['replay jobs of a project', ({ jobs }) => jobs.listJobs(LARGE, 10), ['replay_jobs_pkey(partition)'], 10],
  ['open replay jobs', ({ jobs }) => jobs.listOpenJobs(null, 30), ['replay_jobs_open(state)'], 21],
  [
    'the endpoints of replay items',
    ({ jobs }) => jobs.listItemEndpoints(LARGE, JOB, null, 10),
    [ITEM_KEY],
    30,
  ],
  [
    'the replay items of an endpoint',
    ({ jobs }) => jobs.listItems(LARGE, JOB, ITEM_ENDPOINT, 10),
    [ITEM_KEY],
    10,
  ],
  [
    'stats',
    ({ insight }) => insight.readStats(LARGE, 60_000, ...WINDOW),
    ['stats_pkey(partition,span_ms,at)'],
    0,
  ],
  [
    'stats of endpoints',
    ({ insight }) => insight.readEndpointStats(LARGE, [ITEM_ENDPOINT], instant(0)),
    ['endpoint_stats_pkey(partition,endpoint_digest,at)'],
    0,
  ],
  [
    'active endpoints',
    ({ insight }) => insight.listActiveEndpoints(LARGE, START, 10),
    ['endpoint_stats_by_time(partition,at)', 'endpoint_stats_pkey(partition,endpoint_digest)'],
    0,
  ],
  ['a gate', ({ insight }) => insight.findGate(LARGE, ITEM_ENDPOINT), ['gates_pkey(partition,endpoint)'], 1],
  // A bitmap scan counts its rows twice.
  ['gates', ({ insight }) => insight.listGates(LARGE, 10), ['gates_pkey(partition)'], 200],
  [
    'breakers that are not closed',
    ({ insight }) => insight.listOpenBreakers(LARGE, START, 10),
    ['gates_open(partition,saved_at)'],
    10,
  ],
  ['what is due', ({ insight }) => insight.countDue(LARGE, ...WINDOW, 100, 5_000), [DUE_OF_PARTITION], 200],
  [
    'what is due, past too much of others',
    ({ insight }) => insight.countDue(2 as Partition, ...WINDOW, 100, 50),
    [DUE_OF_PARTITION],
    2,
  ],
  [
    'what comes up',
    ({ insight }) => insight.listUpcoming(2 as Partition, { dueAt: WINDOW[0], id: '' }, WINDOW[1], 10),
    [DUE_OF_PARTITION, DELIVERY_KEY, SCHEDULE_KEY],
    // Two deliveries wait, and each is joined with its schedule.
    6,
  ],
  [
    'the delivery of an attempt',
    ({ insight }) => insight.findDeliveryOfAttempt(LARGE, ATTEMPT, ...WINDOW, 50),
    ['attempts_by_time(partition,outcome,finished_at)', STATUS],
    // 50 attempts of each outcome, and as many in flight.
    200,
  ],
  [
    'the answers that were kept of a delivery',
    ({ insight }) => insight.listKeptResponses(LARGE, DELIVERY, 50),
    ['attempt_responses_pkey(partition,delivery_id)'],
    0,
  ],
  [
    'schedules of a destination',
    ({ insight }) =>
      insight.searchSchedules(
        LARGE,
        { ...ANY_SCHEDULES, destination: 'a', inNames: true, hidesQueries: true },
        PAGE,
        SCANNED_MAX,
      ),
    [VERSION_KEY, PROFILE_KEY, SCHEDULE_KEY],
    // Each schedule has a profile, with its version. Those that match are read once more.
    4 * SCANNED_MAX,
  ],
  [
    'schedules of a destination with labels',
    ({ insight }) => {
      const wanted = {
        ...ANY_SCHEDULES,
        labels: [...COMMON, ...RARE],
        state: 'completed',
        destination: 'a',
      } as const;
      return insight.searchSchedules(LARGE, wanted, PAGE, SCANNED_MAX);
    },
    [LABEL_KEY, VERSION_KEY, PROFILE_KEY, SCHEDULE_KEY],
    6 * SCANNED_MAX,
  ],
  [
    'schedules of a state',
    ({ insight }) => insight.searchSchedules(LARGE, { ...ANY_SCHEDULES, state: 'paused' }, PAGE, SCANNED_MAX),
    [STATE],
    0,
  ],
  [
    'a count of deliveries',
    ({ insight }) => insight.countDeliveries(LARGE, ALL_DELIVERIES, 50),
    [DELIVERY_KEY],
    50,
  ],
  [
    'a count of a status',
    ({ insight }) => insight.countDeliveries(LARGE, { ...ALL_DELIVERIES, status: 'succeeded' }, 50),
    [STATUS],
    50,
  ],
  [
    'a count of a schedule',
    ({ insight }) => insight.countDeliveries(LARGE, { ...ALL_DELIVERIES, scheduleId: SCHEDULE }, 50),
    [OF_SCHEDULE],
    1,
  ],
  [
    'whether a profile sends payloads',
    ({ insight }) => insight.hasPayloads(LARGE, ENDPOINT),
    ['schedules_with_body_by_profile(partition,endpoint_id)'],
    0,
  ],
  [
    'occurrences',
    ({ insight }) => insight.listOccurrences(LARGE, SCHEDULE, ...WINDOW, 50),
    ['deliveries_occurrence(partition,schedule_id,occurrence)'],
    1,
  ],
  ['alert channels', ({ alerts }) => alerts.listChannels(LARGE), ['alert_channels_pkey(partition)'], 40],
  [
    'an alert channel',
    ({ alerts }) => alerts.findChannel(LARGE, CHANNEL),
    ['alert_channels_pkey(partition,id)'],
    1,
  ],
  [
    'alert conditions',
    ({ alerts }) => alerts.listConditions(LARGE),
    ['alert_conditions_pkey(partition)'],
    40,
  ],
  [
    'an alert condition',
    ({ alerts }) => alerts.findCondition(LARGE, CONDITION),
    ['alert_conditions_pkey(partition,id)'],
    1,
  ],
  [
    'partitions with alert conditions',
    ({ alerts }) => alerts.listPartitionsWithConditions(LARGE, 5),
    ['alert_conditions_pkey(partition)'],
    // A partition has at most 20.
    110,
  ],
  [
    'open incidents',
    ({ alerts }) => alerts.listOpenIncidents(LARGE),
    ['alert_incidents_open(partition)'],
    // Of 200, two are open. A bitmap scan counts its rows twice.
    4,
  ],
  [
    'incidents',
    ({ alerts }) => alerts.listIncidents(LARGE, null, 10),
    ['alert_incidents_pkey(partition,id)'],
    10,
  ],
  [
    'an incident',
    ({ alerts }) => alerts.findIncident(LARGE, INCIDENT),
    ['alert_incidents_pkey(partition,id)'],
    1,
  ],
  [
    'an alert message',
    ({ alerts }) => alerts.findMessage(LARGE, DELIVERY),
    ['alert_messages_pkey(partition,id)'],
    1,
  ],
  [
    'messages of an incident',
    ({ alerts }) => alerts.listMessages(LARGE, INCIDENT, 10),
    ['alert_messages_of_incident(partition,incident_id)'],
    10,
  ],
  [
    'partitions with messages that are due',
    ({ alerts }) => alerts.listPartitionsWithMessages(LARGE, START, 5),
    ['alert_messages_due(partition)'],
    30,
  ],
  [
    'messages that are due',
    ({ alerts }) => alerts.listDueMessages(LARGE, START),
    [
      'alert_messages_due(partition)',
      'alert_messages_due(partition,channel_id)',
      'alert_messages_pkey(partition,id)',
    ],
    20,
  ],
  [
    'ended messages and incidents',
    ({ alerts }) => alerts.prune(START, 500),
    ['alert_incidents_ended(ended_at)', 'alert_messages_ended(ended_at)'],
    1_000,
  ],
];
