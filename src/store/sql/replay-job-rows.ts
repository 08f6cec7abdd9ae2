/** The table of bulk replays, and the columns of their items. */
import type { ReplayJob } from '#src/domain/replay-job.ts';
import { fixed, json, mapping, plain } from './mapping.ts';

export const REPLAY_JOB = mapping<ReplayJob>({
  partition: fixed(plain),
  id: fixed(plain),
  state: plain,
  filter: fixed(json),
  cursor: plain,
  gathered: plain,
  replayed: plain,
  skipped: plain,
  expected: fixed(plain),
  createdBy: fixed(plain),
  createdAt: fixed(plain),
  updatedAt: plain,
  endedAt: plain,
  runner: plain,
  leaseUntil: plain,
  revision: plain,
});

/** An item is looked up by this key. `endpoint` repeats the endpoint of the digest in full. */
export const REPLAY_ITEM_KEY = ['partition', 'job_id', 'endpoint_digest', 'delivery_id'] as const;
export const REPLAY_ITEM = [...REPLAY_ITEM_KEY, 'endpoint'] as const;
