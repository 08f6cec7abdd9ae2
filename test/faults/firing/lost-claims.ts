/** A process that died with more claims than one look can hold: all are closed, none is forgotten. */
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { DATABASE_FILE } from '#test/fuzz/audit.ts';
import { temporaryDirectory } from '#test/process/sched-process.ts';
import { startReceiver } from '#test/receiver/receiver.ts';
import { type Audit, audit } from './audit.ts';
import { Gateway } from './gateway.ts';
import { AT_ONCE, Ledger } from './ledger.ts';
import { startFiring } from './service.ts';
import { Shots } from './shots.ts';
import { noneLeft, UNFINISHED } from './stored.ts';

const DRAIN_MS_MAX = 60_000;
const ENDPOINTS = 50;

export async function runLostClaims(count: number): Promise<Audit> {
  const dataDir = temporaryDirectory();
  await using receiver = await startReceiver();
  const ledger = new Ledger();
  const gateway = new Gateway();
  const shots = new Shots({ gateway, receiver, ledger });
  {
    await using sched = await startFiring(dataDir);
    gateway.open(sched.url);
    await shots.group({
      name: 'claimed',
      count,
      endpoints: ENDPOINTS,
      body: () => ({ delay: '24h', retry_policy: { base: '1ms', factor: 1 } }),
      plan: () => AT_ONCE,
    });
    gateway.close();
    await sched.stop();
  }
  claimAll(dataDir);
  await using sched = await startFiring(dataDir);
  await noneLeft(dataDir, UNFINISHED, DRAIN_MS_MAX);
  await sched.stop();
  return audit({
    dataDir,
    acknowledged: shots.acknowledged,
    received: ledger.received,
    excuses: ['interrupted'],
  });
}

/** As they stand when a process dies in the middle of everything. */
function claimAll(dataDir: string): void {
  const db = new Database(join(dataDir, DATABASE_FILE));
  try {
    const now = Date.now();
    db.prepare(
      `INSERT INTO attempts (partition, delivery_id, attempt_no, id, outcome, due_at, fired_at)
       SELECT partition, id, 1, 'att_' || substr(id, 5), 'retryable', ?, ? FROM deliveries`,
    ).run(now, now);
    db.exec(
      `UPDATE deliveries SET status = 'claimed', attempt_count = 1, due_at = NULL, claim_node = 'dead',
         claim_token = 'att_' || substr(id, 5), revision = revision + 1`,
    );
  } finally {
    db.close();
  }
}
