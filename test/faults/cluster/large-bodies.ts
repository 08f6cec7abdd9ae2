/**
 * Three hundred bodies of the largest size are due at one instant, on two nodes under load. Their endpoints
 * are healthy. Both nodes keep their leases: no attempt is interrupted, and no slot is lost.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { ANSWER_AT_ONCE } from '#test/faults/single-node/ledger.ts';
import { startPostgres } from '#test/postgres/server.ts';
import { inParallel } from '../client.ts';
import { LoadedCluster, type Report, type Run } from './loaded-cluster.ts';

export interface LargeBodiesReport extends Report {
  /** Lease renewals that failed, on all nodes. */
  readonly failedRenewals: number;
}

const NODES = 2;
const BODIES = 300;
const PATHS = 60;
/** The largest body: the most characters allowed, of three bytes each, which is 768 KiB. */
const BODY = '€'.repeat(262_144);
/** Concurrent calls: creates with bodies, and moves. */
const CREATES = 4;
const MOVES = 48;
/** Creating them takes a while. They are created for later and then moved to one instant, which is quick. */
const LATER = '24h';
const AHEAD_MS = 30_000;
const AFTER_MS = 15_000;

const SLOTS_LOST = 'slots were lost to another node';
const NOT_RENEWED = 'the lease could not be renewed';

export async function runLargeBodies(run: Run): Promise<LargeBodiesReport> {
  await using server = await startPostgres({ durable: run.durable });
  const { url } = await server.createDatabase();
  await using cluster = await LoadedCluster.open({ url: () => url }, run, { count: NODES });
  const { load, ledger, nodes } = cluster;
  const { balancer } = nodes;
  const numbers = Array.from({ length: BODIES }, (_, number) => number);
  for (let round = 0; round < run.rounds; round++) {
    const ids: string[] = [];
    await inParallel(numbers, CREATES, async (number) => {
      const endpoint = cluster.hook(
        `large/${number % PATHS}`,
        ledger.behaviour(() => ANSWER_AT_ONCE),
      );
      const body = { endpoint, delay: LATER, body: BODY };
      const made = await balancer.create<{ readonly id: string }>(
        '/v1/schedules',
        `${round} ${number}`,
        body,
      );
      load.acknowledged.set(made.id, 'one_shot');
      ids.push(made.id);
    });
    const instant = Date.now() + AHEAD_MS;
    const move = { fire_at: new Date(instant).toISOString() };
    await inParallel(ids, MOVES, (id) =>
      balancer.create(`/v1/schedules/${id}/reschedule`, `move ${id}`, move),
    );
    if (Date.now() > instant) throw new Error('They could not be moved ahead of their instant.');
    await sleep(instant - Date.now() + AFTER_MS);
  }
  const report = await cluster.close(({ attempts }) => {
    const interrupted = attempts.filter(({ error }) => error === 'interrupted');
    const lost = nodes.outputs.filter((output) => output.includes(SLOTS_LOST));
    return [
      ...interrupted.map(({ delivery_id }) => `${delivery_id} was interrupted by no death`),
      ...lost.map(() => 'a healthy node lost slots to another'),
    ];
  });
  return { ...report, failedRenewals: report.outputs.join('').split(NOT_RENEWED).length - 1 };
}
