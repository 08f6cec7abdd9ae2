/**
 * A process died with more claims than recovery reads in one page. All of them are closed, and none is
 * missed.
 */
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { DATABASE_FILE } from '#test/fuzz/audit.ts';
import { temporaryDirectory } from '#test/process/sched-process.ts';
import { startReceiver } from '#test/receiver/receiver.ts';
import { type Audit, audit } from './audit.ts';
import { ANSWER_AT_ONCE, Ledger } from './ledger.ts';
import { OneShots } from './one-shots.ts';
import { RetryingClient } from './retrying-client.ts';
import { startService } from './service.ts';
import { UNFINISHED, waitUntilNone } from './stored.ts';

const DRAIN_MS_MAX = 60_000;
const ENDPOINTS = 50;

export async function runLostClaims(count: number): Promise<Audit> {
  const dataDir = temporaryDirectory();
  await using receiver = await startReceiver();
  const ledger = new Ledger();
  const client = new RetryingClient();
  const oneShots = new OneShots({ client, receiver, ledger });
  {
    await using sched = await startService(dataDir);
    client.open(sched.url);
    await oneShots.group({
      name: 'claimed',
      count,
      endpoints: ENDPOINTS,
      body: () => ({ delay: '24h', retry_policy: { base: '1ms', factor: 1 } }),
      plan: () => ANSWER_AT_ONCE,
    });
    client.close();
    await sched.stop();
  }
  claimAll(dataDir);
  await using sched = await startService(dataDir);
  await waitUntilNone(dataDir, UNFINISHED, DRAIN_MS_MAX);
  await sched.stop();
  return audit({
    dataDir,
    acknowledged: oneShots.acknowledged,
    received: ledger.received,
    toleratedErrors: ['interrupted'],
  });
}

/** Leaves all deliveries claimed, as when a process dies in the middle of everything. */
function claimAll(dataDir: string): void {
  const db = new Database(join(dataDir, DATABASE_FILE));
  try {
    const now = Date.now();
    db.prepare(
      `UPDATE deliveries SET status = 'claimed', attempt_count = 1, due_at = NULL, claim_node = 'dead',
         claim_attempt_id = 'att_' || substr(id, 5), claim_due_at = ?, claim_fired_at = ?, revision = revision + 1`,
    ).run(now, now);
  } finally {
    db.close();
  }
}
