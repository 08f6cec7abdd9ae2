/** Bulk replays, for every store that speaks SQL. */
import type { EndpointKey } from '#src/domain/endpoint-key.ts';
import type { JobId } from '#src/domain/id.ts';
import type { Instant } from '#src/domain/instant.ts';
import type { Partition } from '#src/domain/project.ts';
import type { ReplayItem, ReplayJob } from '#src/domain/replay-job.ts';
import type { ItemReplay, ReplayJobStore } from '#src/ports/replay-job-store.ts';
import { endpointDigest } from './digests.ts';
import {
  fromReplayItemRow,
  fromReplayJobRow,
  REPLAY_JOB_FIXED,
  REPLAY_JOB_MUTABLE,
  type ReplayItemRow,
  type ReplayJobRow,
} from './replay-job-rows.ts';
import { type ItemKey, type JobKey, makeReplayJobVerbs } from './replay-job-verbs.ts';
import type { SqlRunner } from './steps.ts';
import type { makeVerbs } from './verbs.ts';

const JOBS = `SELECT ${[...REPLAY_JOB_FIXED, ...REPLAY_JOB_MUTABLE].join(', ')} FROM replay_jobs`;
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
const ITEMS = `SELECT delivery_id, endpoint FROM replay_items
  WHERE partition = $1 AND job_id = $2 AND endpoint_digest = $3 ORDER BY delivery_id LIMIT $4`;

const ENDED_WITH_ITEMS = `SELECT partition, id FROM replay_jobs
  WHERE ended_at IS NOT NULL AND cursor IS NOT NULL ORDER BY id LIMIT 1`;
const ITEMS_LEFT = `SELECT endpoint_digest, delivery_id FROM replay_items
  WHERE partition = $1 AND job_id = $2 ORDER BY endpoint_digest, delivery_id LIMIT $3`;
const ENDED_BEFORE = 'SELECT partition, id FROM replay_jobs WHERE ended_at < $1 ORDER BY ended_at LIMIT $2';

export class SqlReplayJobs implements ReplayJobStore {
  readonly #sql: Pick<SqlRunner, 'query' | 'run'>;
  readonly #verbs: ReturnType<typeof makeReplayJobVerbs>;

  constructor(sql: Pick<SqlRunner, 'query' | 'run'>, verbs: Pick<ReturnType<typeof makeVerbs>, 'addReplay'>) {
    this.#sql = sql;
    this.#verbs = makeReplayJobVerbs(verbs);
  }

  addJob(job: ReplayJob, knownOpen: readonly JobId[]): Promise<'done' | 'stale'> {
    return this.#sql.run(this.#verbs.addJob(job, knownOpen));
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
    return (await this.#sql.query<ReplayJobRow>(sql, ...parameters)).map(fromReplayJobRow);
  }

  replaceJob(job: ReplayJob): Promise<'done' | 'stale'> {
    return this.#sql.run(this.#verbs.replaceJob(job));
  }

  gather(job: ReplayJob, items: readonly ReplayItem[]): Promise<'done' | 'stale'> {
    return this.#sql.run(this.#verbs.gather(job, items));
  }

  async listItemEndpoints(
    partition: Partition,
    id: JobId,
    after: EndpointKey | null,
    limit: number,
  ): Promise<readonly EndpointKey[]> {
    const from = after === null ? '' : endpointDigest(after);
    const job = [partition, id] as const;
    const rows = await this.#sql.query<Pick<ReplayItemRow, 'endpoint'>>(
      ITEM_ENDPOINTS,
      ...job,
      from,
      ...job,
      limit,
      ...job,
    );
    return rows.map(({ endpoint }) => endpoint);
  }

  async listItems(
    partition: Partition,
    id: JobId,
    endpoint: EndpointKey,
    limit: number,
  ): Promise<readonly ReplayItem[]> {
    const rows = await this.#sql.query<ReplayItemRow>(ITEMS, partition, id, endpointDigest(endpoint), limit);
    return rows.map(fromReplayItemRow);
  }

  replayItems(job: ReplayJob, replays: readonly ItemReplay[]): Promise<'done' | 'stale'> {
    return this.#sql.run(this.#verbs.replayItems(job, replays));
  }

  async pruneJobs(endedBefore: Instant | null, limit: number): Promise<number> {
    let removed = 0;
    while (removed < limit) {
      const [job] = await this.#sql.query<JobKey>(ENDED_WITH_ITEMS);
      if (job === undefined) break;
      const left = limit - removed;
      const items = await this.#sql.query<ItemKey>(ITEMS_LEFT, job.partition, job.id, left);
      await this.#sql.run(this.#verbs.removeItems(job, items.at(-1), items.length < left));
      removed += items.length;
    }
    if (endedBefore === null || removed >= limit) return removed;
    const jobs = await this.#sql.query<JobKey>(ENDED_BEFORE, endedBefore, limit - removed);
    if (jobs.length > 0) await this.#sql.run(this.#verbs.removeJobs(jobs));
    return removed + jobs.length;
  }
}
