/**
 * Hints between nodes get lost. Either a `pg_notify` of the test replaces the real one and does nothing, or
 * no node can keep a connection for LISTEN. A replay is stored by one node and due at once on another, which
 * then finds it only by its scan. The delay is at most the time between two scans.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Received } from '#test/faults/single-node/ledger.ts';
import { type Spread, spreadOf } from '#test/faults/single-node/numbers.ts';
import { Prng } from '#test/fuzz/prng.ts';
import { execute } from '#test/postgres/databases.ts';
import { startProxy } from '#test/postgres/proxy.ts';
import { startPostgres } from '#test/postgres/server.ts';
import { LoadedCluster, type Report, type Run } from './loaded-cluster.ts';
import type { Stored } from './stored.ts';

const HINT_FAULTS = ['delivered', 'dropped', 'disconnected'] as const;
type HintFault = (typeof HINT_FAULTS)[number];

export interface LostHintReport extends Report {
  /** The lateness of replays, which are due at once. */
  readonly lateness: Readonly<Record<HintFault, Spread>>;
}

const FAULT_MS = 4_000;
const PAUSE_MS = 1_000;
const REPLAY_EVERY_MS = 25;
/** Nodes scan at least once a second. This includes the time of a scan. */
const LATE_MS_MAX = 1_500;
const DROP_HINTS = `CREATE FUNCTION public.pg_notify(text, text) RETURNS void LANGUAGE sql AS 'SELECT'`;
const SEND_HINTS = 'DROP FUNCTION public.pg_notify(text, text)';

export async function runLostHints(run: Run): Promise<LostHintReport> {
  await using server = await startPostgres({ durable: run.durable });
  const { url, name } = await server.createDatabase();
  // With this search path, a function in `public` replaces one of the system.
  await execute(url, `ALTER DATABASE ${name} SET search_path = public, pg_catalog`);
  await using proxy = await startProxy(server.port);
  await using cluster = await LoadedCluster.open({ url: () => url, databaseUrl: proxy.through(url) }, run);
  const replays = new Map<string, HintFault>();
  const prng = new Prng(run.seed);
  for (let round = 0; round < run.rounds; round++) {
    for (const fault of HINT_FAULTS) {
      if (fault === 'dropped') await execute(url, DROP_HINTS);
      if (fault === 'disconnected')
        proxy.interfere((sql) => (/pg_notify|LISTEN/.test(sql) ? 'lose it' : 'pass'));
      await replay(cluster, prng, (id) => replays.set(id, fault));
      if (fault === 'dropped') await execute(url, SEND_HINTS);
      if (fault === 'disconnected') proxy.interfere(() => 'pass');
      await sleep(PAUSE_MS);
    }
  }
  let lateness: LostHintReport['lateness'] | null = null;
  const report = await cluster.close((stored) => {
    lateness = latenessOf(replays, stored, cluster.ledger.received);
    return HINT_FAULTS.flatMap((fault) => {
      const max = lateness?.[fault].max ?? Number.NaN;
      return max <= LATE_MS_MAX ? [] : [`${fault}: a replay was ${max} ms late`];
    });
  });
  if (lateness === null) throw new Error('Nothing was measured.');
  return { ...report, lateness };
}

/** Replays deliveries that have succeeded, through one node after the other. */
async function replay(cluster: LoadedCluster, prng: Prng, replayed: (id: string) => void): Promise<void> {
  const until = performance.now() + FAULT_MS;
  const calls: Promise<void>[] = [];
  while (performance.now() < until) {
    await sleep(REPLAY_EVERY_MS);
    const [some] = cluster.ledger.received.slice(prng.int(cluster.ledger.received.length));
    if (some?.answered !== 200) continue;
    const { deliveryId } = some;
    calls.push(replayOne(cluster, deliveryId, `replay ${prng.uint32()}`, replayed));
  }
  await Promise.all(calls);
}

async function replayOne(
  cluster: LoadedCluster,
  deliveryId: string,
  key: string,
  replayed: (id: string) => void,
): Promise<void> {
  const { status, text } = await cluster.nodes.balancer.send('POST', `/v1/deliveries/${deliveryId}/replay`, {
    key,
  });
  // The delivery was answered, but may not be settled yet.
  if (status === 409) return;
  const { id } = JSON.parse(text) as { readonly id: string };
  cluster.replays.add(id);
  replayed(id);
}

function latenessOf(
  replays: ReadonlyMap<string, HintFault>,
  stored: Stored,
  received: readonly Received[],
): LostHintReport['lateness'] {
  const arrivals = Map.groupBy(received, ({ deliveryId }) => deliveryId);
  const first = stored.attempts.filter(({ attempt_no }) => attempt_no === 1);
  const late = (fault: HintFault) =>
    first
      .filter(({ delivery_id }) => replays.get(delivery_id) === fault)
      .map(({ delivery_id, due_at }) => (arrivals.get(delivery_id)?.at(0)?.arrivedAt ?? Number.NaN) - due_at);
  return {
    delivered: spreadOf(late('delivered')),
    dropped: spreadOf(late('dropped')),
    disconnected: spreadOf(late('disconnected')),
  };
}
