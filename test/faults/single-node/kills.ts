/**
 * Repeated SIGKILL under load on one data directory. Each kill loses exactly the attempts that were claimed
 * at that moment. The next start closes them as interrupted and retries them. Nothing else may be sent twice.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { firstOf } from '#test/faults/promises.ts';
import { Prng } from '#test/fuzz/prng.ts';
import { temporaryDirectory } from '#test/process/sched-process.ts';
import { startReceiver } from '#test/receiver/receiver.ts';
import { type Audit, audit } from './audit.ts';
import { Ledger } from './ledger.ts';
import { Load } from './load.ts';
import { RetryingClient } from './retrying-client.ts';
import { startAndKill, startService, startServiceInThread } from './service.ts';
import { CLAIMED, countWhere, UNFINISHED, waitUntilNone } from './stored.ts';

export interface KillOptions {
  readonly kills: number;
  readonly seed: number;
  readonly clients: number;
}

interface Kill {
  readonly at: number;
  /**
   * Deliveries that were claimed at the kill. Null when they were not counted, because the next start came at
   * once.
   */
  readonly claimed: number | null;
}

export interface KillReport extends Audit {
  readonly resent: number;
  readonly moves: number;
  readonly startsKilled: number;
  readonly claimedAtKills: readonly number[];
  readonly drainedMs: number;
}

const LIFE_MS = [0, 2_000] as const;
/** A start takes more than a second until it listens. The kill comes at any time in it. */
const START_MS = [150, 1_200] as const;
const START_KILLED = 0.15;
const DRAIN_MS_MAX = 60_000;

export async function runKills({ kills, seed, clients }: KillOptions): Promise<KillReport> {
  const prng = new Prng(seed);
  const dataDir = temporaryDirectory();
  await using receiver = await startReceiver();
  const ledger = new Ledger();
  const client = new RetryingClient();
  const load = new Load({ client, receiver, ledger, seed, clients, pauseMsMax: 60 });
  const done: Kill[] = [];
  let startsKilled = 0;

  for (let round = 0; round < kills; round++) {
    const sched = await startService(dataDir);
    client.open(sched.url);
    if (round === 0) {
      await load.start();
      await sleep(LIFE_MS[1]);
    }
    await sleep(prng.between(...LIFE_MS));
    await sched.kill();
    client.close();
    const at = Date.now();
    done.push({ at, claimed: round % 2 === 0 ? countWhere(dataDir, CLAIMED) : null });
    if (!prng.chance(START_KILLED)) continue;
    startsKilled += 1;
    await startAndKill(dataDir, prng.between(...START_MS));
    done.push({ at: Date.now(), claimed: null });
  }

  await using sched = await startServiceInThread(dataDir);
  client.open(sched.url);
  await load.stop();
  const drainedMs = await waitUntilNone(dataDir, UNFINISHED, DRAIN_MS_MAX);
  client.close();
  const { code } = await sched.stop();
  const { acknowledged, moves } = load;
  const result = audit({
    dataDir,
    acknowledged,
    received: ledger.received,
    toleratedErrors: ['interrupted'],
  });
  return {
    ...result,
    faults: firstOf([
      ...result.faults,
      ...(code === 0 ? [] : [`exit code ${code}`]),
      ...interruptionFaults(result, done),
    ]),
    resent: client.resent,
    moves,
    startsKilled,
    claimedAtKills: done.flatMap(({ claimed }) => claimed ?? []),
    drainedMs,
  };
}

/**
 * Exactly the attempts that were claimed at a kill were interrupted. An attempt may span several kills, if a
 * process was killed before it closed the attempts of the one before it.
 */
function interruptionFaults({ stored }: Audit, kills: readonly Kill[]): readonly string[] {
  const interrupted = stored.attempts.filter(({ error }) => error === 'interrupted');
  const spans = ({ fired_at, finished_at }: (typeof interrupted)[number], { at }: Kill) =>
    fired_at <= at && at <= (finished_at ?? 0);
  return [
    ...interrupted
      .filter((attempt) => !kills.some((kill) => spans(attempt, kill)))
      .map(
        ({ delivery_id, attempt_no }) => `${delivery_id}: attempt ${attempt_no} was interrupted by no kill`,
      ),
    ...kills.flatMap((kill, i) => {
      const { claimed } = kill;
      const closed = interrupted.filter((attempt) => spans(attempt, kill)).length;
      return claimed === null || claimed === closed
        ? []
        : [`kill ${i + 1}: ${claimed} were claimed, ${closed} were closed as interrupted`];
    }),
  ];
}
