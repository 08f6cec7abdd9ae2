/**
 * SIGSTOP under load, and SIGCONT after a while: for the service, time jumps. Nothing is lost or early, and
 * what came due meanwhile is sent right after. Requests in flight have timed out, or end.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { temporaryDirectory } from '#test/process/sched-process.ts';
import { startReceiver } from '#test/receiver/receiver.ts';
import { type Audit, audit } from './audit.ts';
import { Ledger } from './ledger.ts';
import { Load } from './load.ts';
import { type Spread, spreadOf } from './numbers.ts';
import { RetryingClient } from './retrying-client.ts';
import { startService } from './service.ts';
import { UNFINISHED, waitUntilNone } from './stored.ts';

const BEFORE_MS = 2_500;
const AFTER_MS = 1_500;
const DRAIN_MS_MAX = 60_000;

export interface FrozenReport extends Audit {
  readonly dueMeanwhile: number;
  /** From SIGCONT to the claim, for deliveries that came due while the process was frozen. */
  readonly afterwards: Spread;
}

export async function runFrozen(options: {
  readonly frozenMs: number;
  readonly seed: number;
  readonly clients: number;
}): Promise<FrozenReport> {
  const { frozenMs, seed, clients } = options;
  const dataDir = temporaryDirectory();
  await using receiver = await startReceiver();
  const ledger = new Ledger();
  const client = new RetryingClient();
  const load = new Load({ client, receiver, ledger, seed, clients, pauseMsMax: 60, timeout: '1s' });
  await using sched = await startService(dataDir);
  client.open(sched.url);
  await load.start();
  await sleep(BEFORE_MS);

  sched.signal('SIGSTOP');
  const frozenAt = Date.now();
  await sleep(frozenMs);
  const thawedAt = Date.now();
  sched.signal('SIGCONT');
  await sleep(AFTER_MS);

  await load.stop();
  await waitUntilNone(dataDir, UNFINISHED, DRAIN_MS_MAX);
  client.close();
  const { code } = await sched.stop();
  const { acknowledged } = load;
  const result = audit({ dataDir, acknowledged, received: ledger.received, toleratedErrors: ['timeout'] });
  const late = result.stored.attempts
    .filter(({ due_at, fired_at }) => frozenAt < due_at && due_at < thawedAt && fired_at >= thawedAt)
    .map(({ fired_at }) => fired_at - thawedAt);
  return {
    ...result,
    faults: [...result.faults, ...(code === 0 ? [] : [`exit code ${code}`])],
    dueMeanwhile: late.length,
    afterwards: spreadOf(late),
  };
}
