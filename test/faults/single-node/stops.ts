/**
 * SIGTERM under load. Attempts in flight finish within the grace period, and nothing is interrupted. An
 * attempt that hangs longer is aborted, closed as interrupted before the process ends, and retried later.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { Prng } from '#test/fuzz/prng.ts';
import { type Exit, type SchedProcess, temporaryDirectory } from '#test/process/sched-process.ts';
import { startReceiver } from '#test/receiver/receiver.ts';
import { type Audit, audit } from './audit.ts';
import { ANSWER_AT_ONCE, Ledger } from './ledger.ts';
import { Load } from './load.ts';
import { RetryingClient } from './retrying-client.ts';
import { startService, startServiceInThread } from './service.ts';
import { CLAIMED, countWhere, readStored, UNFINISHED, waitUntilNone } from './stored.ts';

const LIFE_MS = [0, 1_500] as const;
/** The slowest answer takes 700 ms. */
const GRACE_MS = 10_000;
const DRAIN_MS_MAX = 60_000;

interface TimedExit extends Exit {
  readonly ms: number;
}

async function stopTimed(sched: SchedProcess): Promise<TimedExit> {
  const start = performance.now();
  const exit = await sched.stop();
  return { ...exit, ms: performance.now() - start };
}

export interface StopReport extends Audit {
  readonly exitMs: readonly number[];
}

export async function runStops(options: {
  readonly stops: number;
  readonly seed: number;
  readonly clients: number;
}): Promise<StopReport> {
  const { stops, seed, clients } = options;
  const prng = new Prng(seed);
  const dataDir = temporaryDirectory();
  await using receiver = await startReceiver();
  const ledger = new Ledger();
  const client = new RetryingClient();
  const load = new Load({ client, receiver, ledger, seed, clients, pauseMsMax: 60 });
  const exitMs: number[] = [];
  const faults: string[] = [];

  for (let round = 0; round < stops; round++) {
    await using sched = await startService(dataDir, { env: { SCHED_SHUTDOWN_GRACE: `${GRACE_MS}ms` } });
    client.open(sched.url);
    if (round === 0) {
      await load.start();
      await sleep(LIFE_MS[1]);
    }
    await sleep(prng.between(...LIFE_MS));
    const { code, signal, ms } = await stopTimed(sched);
    client.close();
    exitMs.push(ms);
    if (code !== 0) faults.push(`stop ${round + 1}: exit code ${code}, signal ${signal}`);
    if (ms > GRACE_MS) faults.push(`stop ${round + 1}: took ${Math.round(ms)} ms`);
    const claimed = countWhere(dataDir, CLAIMED);
    if (claimed > 0) faults.push(`stop ${round + 1}: left ${claimed} claimed`);
  }
  await using last = await startServiceInThread(dataDir);
  client.open(last.url);
  await load.stop();
  await waitUntilNone(dataDir, UNFINISHED, DRAIN_MS_MAX);
  client.close();
  await last.stop();
  const result = audit({ dataDir, acknowledged: load.acknowledged, received: ledger.received });
  return { ...result, faults: [...faults, ...result.faults], exitMs };
}

export interface HangingStopReport extends Audit {
  readonly exitMs: number;
  readonly hanging: number;
}

/** A stop with a receiver that never answers and a short grace period. */
export async function runHangingStop(hanging: number): Promise<HangingStopReport> {
  const dataDir = temporaryDirectory();
  await using receiver = await startReceiver();
  const ledger = new Ledger();
  const client = new RetryingClient();
  const acknowledged = new Map<string, 'one_shot'>();
  const hook = receiver.hook(
    ledger.behaviour((_, attemptNo) =>
      attemptNo === 1 ? { status: 200, afterMs: Number.POSITIVE_INFINITY } : ANSWER_AT_ONCE,
    ),
  );
  await using first = await startService(dataDir, { env: { SCHED_SHUTDOWN_GRACE: '1s' } });
  client.open(first.url);
  for (let i = 0; i < hanging; i++) {
    const body = { endpoint: hook.url, delay: '1s', retry_policy: { base: '1s', factor: 1 } };
    const { id } = await client.create<{ readonly id: string }>('/v1/schedules', `hanging ${i}`, body);
    acknowledged.set(id, 'one_shot');
  }
  await hook.arrived(hanging);
  const { code, ms: exitMs } = await stopTimed(first);
  const exitedAt = Date.now();
  const { attempts } = readStored(dataDir);
  const closed = attempts.filter(
    ({ error, finished_at }) => error === 'interrupted' && (finished_at ?? Number.MAX_VALUE) <= exitedAt,
  ).length;

  await using again = await startServiceInThread(dataDir);
  client.open(again.url);
  await waitUntilNone(dataDir, UNFINISHED, DRAIN_MS_MAX);
  client.close();
  await again.stop();
  const result = audit({
    dataDir,
    acknowledged,
    received: ledger.received,
    toleratedErrors: ['interrupted'],
  });
  return {
    ...result,
    faults: [
      ...result.faults,
      ...(code === 0 ? [] : [`exit code ${code}`]),
      ...(closed === hanging ? [] : [`${closed} of ${hanging} attempts were closed before the exit`]),
    ],
    exitMs,
    hanging,
  };
}
