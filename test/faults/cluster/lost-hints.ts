/**
 * What nodes tell each other gets lost: silently, by a `pg_notify` of the test's own that stands before the
 * real one and does nothing; or because no node can keep a connection to listen on. Then what is stored by one
 * node and due at once on another, as a replay is, is found by looking: late by at most that.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { Prng } from '#test/fuzz/prng.ts';
import { execute } from '#test/postgres/databases.ts';
import { startProxy } from '#test/postgres/proxy.ts';
import { startPostgres } from '#test/postgres/server.ts';
import type { Received } from '../firing/ledger.ts';
import { type Spread, spreadOf } from '../firing/numbers.ts';
import { type Report, type Run, Scene } from './scene.ts';
import type { Stored } from './stored.ts';

const WAYS = ['told', 'swallowed', 'cut'] as const;
type Way = (typeof WAYS)[number];

export interface LostHintReport extends Report {
  /** Of replays, which are due at once. */
  readonly lateness: Readonly<Record<Way, Spread>>;
}

const TROUBLE_MS = 4_000;
const CALM_MS = 1_000;
const REPLAY_EVERY_MS = 25;
/** Nodes look at least once a second; with what a look takes. */
const LATE_MS_MAX = 1_500;
const SWALLOW = `CREATE FUNCTION public.pg_notify(text, text) RETURNS void LANGUAGE sql AS 'SELECT'`;
const SPEAK = 'DROP FUNCTION public.pg_notify(text, text)';

export async function runLostHints(run: Run): Promise<LostHintReport> {
  await using server = await startPostgres({ durable: run.durable });
  const { url, name } = await server.createDatabase();
  // Else nothing could stand before what the system has.
  await execute(url, `ALTER DATABASE ${name} SET search_path = public, pg_catalog`);
  await using proxy = await startProxy(server.port);
  await using scene = await Scene.open({ url: () => url, databaseUrl: proxy.through(url) }, run);
  const replays = new Map<string, Way>();
  const prng = new Prng(run.seed);
  for (let round = 0; round < run.rounds; round++) {
    for (const way of WAYS) {
      if (way === 'swallowed') await execute(url, SWALLOW);
      if (way === 'cut') proxy.interfere((sql) => (/pg_notify|LISTEN/.test(sql) ? 'lose it' : 'pass'));
      await replay(scene, prng, (id) => replays.set(id, way));
      if (way === 'swallowed') await execute(url, SPEAK);
      if (way === 'cut') proxy.interfere(() => 'pass');
      await sleep(CALM_MS);
    }
  }
  let lateness: LostHintReport['lateness'] | null = null;
  const report = await scene.close((stored) => {
    lateness = latenessOf(replays, stored, scene.ledger.received);
    return WAYS.flatMap((way) => {
      const max = lateness?.[way].max ?? Number.NaN;
      return max <= LATE_MS_MAX ? [] : [`${way}: a replay was ${max} ms late`];
    });
  });
  if (lateness === null) throw new Error('Nothing was measured.');
  return { ...report, lateness };
}

/** What has succeeded is sent again, through one node after the other. */
async function replay(scene: Scene, prng: Prng, replayed: (id: string) => void): Promise<void> {
  const until = performance.now() + TROUBLE_MS;
  const calls: Promise<void>[] = [];
  while (performance.now() < until) {
    await sleep(REPLAY_EVERY_MS);
    const [some] = scene.ledger.received.slice(prng.int(scene.ledger.received.length));
    if (some?.answered !== 200) continue;
    const { deliveryId } = some;
    calls.push(again(scene, deliveryId, `replay ${prng.uint32()}`, replayed));
  }
  await Promise.all(calls);
}

async function again(
  scene: Scene,
  deliveryId: string,
  key: string,
  replayed: (id: string) => void,
): Promise<void> {
  const { status, text } = await scene.nodes.front.send('POST', `/v1/deliveries/${deliveryId}/replay`, {
    key,
  });
  // It has been answered, and may not have been settled yet.
  if (status === 409) return;
  const { id } = JSON.parse(text) as { readonly id: string };
  scene.replays.add(id);
  replayed(id);
}

function latenessOf(
  replays: ReadonlyMap<string, Way>,
  stored: Stored,
  received: readonly Received[],
): LostHintReport['lateness'] {
  const arrivals = Map.groupBy(received, ({ deliveryId }) => deliveryId);
  const first = stored.attempts.filter(({ attempt_no }) => attempt_no === 1);
  const late = (way: Way) =>
    first
      .filter(({ delivery_id }) => replays.get(delivery_id) === way)
      .map(({ delivery_id, due_at }) => (arrivals.get(delivery_id)?.at(0)?.arrivedAt ?? Number.NaN) - due_at);
  return {
    told: spreadOf(late('told')),
    swallowed: spreadOf(late('swallowed')),
    cut: spreadOf(late('cut')),
  };
}
