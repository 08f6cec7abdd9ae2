/** Bulk replays, for every store that speaks SQL. */
import type { EndpointKey } from '#src/domain/endpoint-key.ts';
import type { DeliveryId, JobId } from '#src/domain/id.ts';
import type { Instant } from '#src/domain/instant.ts';
import type { Partition } from '#src/domain/project.ts';
import type { ReplayItem, ReplayJob } from '#src/domain/replay-job.ts';
import type { ItemReplay, ReplayJobStore } from '#src/ports/replay-job-store.ts';
import { endpointDigest } from './digests.ts';
import type { Parameter, Row } from './mapping.ts';
import { REPLAY_JOB } from './replay-job-rows.ts';
import { guard, type SqlRunner, type Step } from './steps.ts';
import type { makeVerbs } from './verbs.ts';

const JOBS = `SELECT ${REPLAY_JOB.columns.join(', ')} FROM replay_jobs`;
const OPEN = "state IN ('gathering', 'running')";

const JOB = `${JOBS} WHERE partition = $1 AND id = $2`;
const NEWEST_JOBS = `${JOBS} WHERE partition = $1 ORDER BY id DESC LIMIT $2`;
const OPEN_JOBS = `${JOBS} WHERE ${OPEN} ORDER BY id LIMIT $1`;
const OPEN_JOBS_OF = `${JOBS} WHERE partition = $1 AND ${OPEN} ORDER BY id LIMIT $2`;

/** Jumps from one endpoint to the next along the index, without reading all items of each. */
const ITEM_ENDPOINTS = `WITH RECURSIVE scan (endpoint_digest, step) AS (
    SELECT (SELECT min(endpoint_digest) FROM replay_items
      WHERE partition = $1 AND job_id = $2 AND endpoint_digest > $3), 1
    UNION ALL
    SELECT (SELECT min(i.endpoint_digest) FROM replay_items i
      WHERE i.partition = $4 AND i.job_id = $5 AND i.endpoint_digest > scan.endpoint_digest), step + 1
    FROM scan WHERE scan.endpoint_digest IS NOT NULL AND step < $6
  )
  SELECT (SELECT i.endpoint FROM replay_items i
      WHERE i.partition = $7 AND i.job_id = $8 AND i.endpoint_digest = scan.endpoint_digest LIMIT 1) AS endpoint
  FROM scan WHERE endpoint_digest IS NOT NULL ORDER BY step`;
const ITEMS = `SELECT delivery_id AS "deliveryId", endpoint FROM replay_items
  WHERE partition = $1 AND job_id = $2 AND endpoint_digest = $3 ORDER BY delivery_id LIMIT $4`;

const ENDED_WITH_ITEMS = `SELECT partition, id FROM replay_jobs
  WHERE ended_at IS NOT NULL AND cursor IS NOT NULL ORDER BY id LIMIT 1`;
const ITEMS_LEFT = `SELECT endpoint_digest, delivery_id FROM replay_items
  WHERE partition = $1 AND job_id = $2 ORDER BY endpoint_digest, delivery_id LIMIT $3`;
const ENDED_BEFORE = 'SELECT partition, id FROM replay_jobs WHERE ended_at < $1 ORDER BY ended_at LIMIT $2';

type Verbs = Pick<ReturnType<typeof makeVerbs>, 'addReplay'>;
type JobKey = Pick<ReplayJob, 'partition' | 'id'>;
/** Identifies an item within its job. */
interface ItemKey {
  readonly endpoint_digest: string;
  readonly delivery_id: DeliveryId;
}

export class SqlReplayJobs implements ReplayJobStore {
  readonly #sql: Pick<SqlRunner, 'query' | 'run'>;
  readonly #addReplay: Verbs['addReplay'];

  constructor(sql: Pick<SqlRunner, 'query' | 'run'>, { addReplay }: Verbs) {
    this.#sql = sql;
    this.#addReplay = addReplay;
  }

  addJob(job: ReplayJob, knownOpen: readonly JobId[]): Promise<'done' | 'stale'> {
    const known = knownOpen.join(' ');
    return this.#sql.run([
      ['lockPartition', 'stale', job.partition],
      ['noOtherReplayJob', 'stale', job.partition, known, known],
      ['insertReplayJob', null, ...REPLAY_JOB.values(job)],
    ]);
  }

  async findJob(partition: Partition, id: JobId): Promise<ReplayJob | null> {
    return (await this.#jobs(JOB, partition, id))[0] ?? null;
  }

  listJobs(partition: Partition, limit: number): Promise<readonly ReplayJob[]> {
    return this.#jobs(NEWEST_JOBS, partition, limit);
  }

  listOpenJobs(partition: Partition | null, limit: number): Promise<readonly ReplayJob[]> {
    return partition === null ? this.#jobs(OPEN_JOBS, limit) : this.#jobs(OPEN_JOBS_OF, partition, limit);
  }

  async #jobs(sql: string, ...parameters: readonly (string | number)[]): Promise<readonly ReplayJob[]> {
    return (await this.#sql.query<Row>(sql, ...parameters)).map(REPLAY_JOB.from);
  }

  replaceJob(job: ReplayJob): Promise<'done' | 'stale'> {
    return this.#sql.run([replaceJob(job)]);
  }

  gather(job: ReplayJob, items: readonly ReplayItem[]): Promise<'done' | 'stale'> {
    return this.#sql.run([
      replaceJob(job),
      ...items.map((item): Step => ['insertReplayItem', null, ...keyOf(job, item), item.endpoint]),
    ]);
  }

  async listItemEndpoints(
    partition: Partition,
    id: JobId,
    after: EndpointKey | null,
    limit: number,
  ): Promise<readonly EndpointKey[]> {
    const from = after === null ? '' : endpointDigest(after);
    const job = [partition, id] as const;
    const rows = await this.#sql.query<Pick<ReplayItem, 'endpoint'>>(
      ITEM_ENDPOINTS,
      ...job,
      from,
      ...job,
      limit,
      ...job,
    );
    return rows.map(({ endpoint }) => endpoint);
  }

  listItems(
    partition: Partition,
    id: JobId,
    endpoint: EndpointKey,
    limit: number,
  ): Promise<readonly ReplayItem[]> {
    return this.#sql.query<ReplayItem>(ITEMS, partition, id, endpointDigest(endpoint), limit);
  }

  replayItems(job: ReplayJob, replays: readonly ItemReplay[]): Promise<'done' | 'stale'> {
    const added = replays.flatMap(({ replay }) =>
      replay === null ? [] : this.#addReplay({ delivery: replay, receipt: null }),
    );
    return this.#sql.run([
      // Schedules are locked in the order in which every transaction locks them.
      ...added.filter(([name]) => name === 'scheduleExists').toSorted(byParameters),
      replaceJob(job),
      ...replays.map(({ item }): Step => ['takeReplayItem', 'stale', ...keyOf(job, item)]),
      ...added.filter(([name]) => name !== 'scheduleExists'),
    ]);
  }

  async pruneJobs(endedBefore: Instant | null, limit: number): Promise<number> {
    let removed = 0;
    while (removed < limit) {
      const [job] = await this.#sql.query<JobKey>(ENDED_WITH_ITEMS);
      if (job === undefined) break;
      const key = [job.partition, job.id] as const;
      const left = limit - removed;
      const items = await this.#sql.query<ItemKey>(ITEMS_LEFT, ...key, left);
      const last = items.at(-1);
      await this.#sql.run([
        ['removeReplayItems', null, ...key, last?.endpoint_digest ?? '', last?.delivery_id ?? ''],
        ...(items.length < left ? [['clearReplayJob', null, ...key] as const] : []),
      ]);
      removed += items.length;
    }
    if (endedBefore === null || removed >= limit) return removed;
    const jobs = await this.#sql.query<JobKey>(ENDED_BEFORE, endedBefore, limit - removed);
    for (const ofOne of Map.groupBy(jobs, ({ partition }) => partition).values()) {
      await this.#sql.run(
        ofOne.map(({ partition, id }) => ['removeReplayJob', null, partition, id] as const),
      );
    }
    return removed + jobs.length;
  }
}

function byParameters(one: Step, other: Step): number {
  const [a, b] = [one.join(' '), other.join(' ')];
  return a < b ? -1 : Number(a > b);
}

function replaceJob(job: ReplayJob): Step {
  return ['replaceReplayJob', 'stale', ...REPLAY_JOB.mutable.values(job), ...guard(job)];
}

function keyOf({ partition, id }: ReplayJob, { endpoint, deliveryId }: ReplayItem): readonly Parameter[] {
  return [partition, id, endpointDigest(endpoint), deliveryId];
}
