/**
 * SIGSTOP under load, and SIGCONT after a while: for the service, time has made a leap. Nothing is lost,
 * nothing is early, what came due meanwhile fires right after; requests under way have timed out, or end.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { temporaryDirectory } from '#test/process/sched-process.ts';
import { startReceiver } from '#test/receiver/receiver.ts';
import { type Audit, audit } from './audit.ts';
import { Gateway } from './gateway.ts';
import { Ledger } from './ledger.ts';
import { Load } from './load.ts';
import { type Spread, spreadOf } from './numbers.ts';
import { startFiring } from './service.ts';
import { noneLeft, UNFINISHED } from './stored.ts';

const BEFORE_MS = 2_500;
const AFTER_MS = 1_500;
const DRAIN_MS_MAX = 60_000;

export interface FrozenReport extends Audit {
  readonly dueMeanwhile: number;
  /** From SIGCONT to their claim, of those that came due while it stood still. */
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
  const gateway = new Gateway();
  const load = new Load({ gateway, receiver, ledger, seed, clients, pauseMsMax: 60, timeout: '1s' });
  await using sched = await startFiring(dataDir);
  gateway.open(sched.url);
  await load.start();
  await sleep(BEFORE_MS);

  sched.signal('SIGSTOP');
  const frozenAt = Date.now();
  await sleep(frozenMs);
  const thawedAt = Date.now();
  sched.signal('SIGCONT');
  await sleep(AFTER_MS);

  await load.stop();
  await noneLeft(dataDir, UNFINISHED, DRAIN_MS_MAX);
  gateway.close();
  const { code } = await sched.stop();
  const { acknowledged } = load;
  const result = audit({ dataDir, acknowledged, received: ledger.received, excuses: ['timeout'] });
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
