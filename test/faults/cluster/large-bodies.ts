/**
 * Three hundred bodies of the largest size are due at one instant, on two nodes under load. All of them are healthy, so
 * both keep their leases: no attempt is interrupted, no slot is lost.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { startPostgres } from '#test/postgres/server.ts';
import { inParallel } from '../client.ts';
import { AT_ONCE } from '../firing/ledger.ts';
import { type Report, type Run, Scene } from './scene.ts';

export interface LargeBodiesReport extends Report {
  /** Renewals that failed, on all nodes. */
  readonly failedRenewals: number;
}

const NODES = 2;
const BODIES = 300;
const PATHS = 60;
/** The most characters that a body may have, of three bytes each: 768 KiB. */
const BODY = '€'.repeat(262_144);
/** Calls at a time: those with bodies, and those that move them. */
const CREATES = 4;
const MOVES = 48;
/** It takes a while to make them: they are made for later, and then moved to one instant, which is quick. */
const LATER = '24h';
const AHEAD_MS = 30_000;
const AFTER_MS = 15_000;

const SLOTS_LOST = 'slots were lost to another node';
const NOT_RENEWED = 'the lease could not be renewed';

export async function runLargeBodies(run: Run): Promise<LargeBodiesReport> {
  await using server = await startPostgres({ durable: run.durable });
  const { url } = await server.createDatabase();
  await using scene = await Scene.open({ url: () => url }, run, NODES);
  const { load, ledger, nodes } = scene;
  const { front } = nodes;
  const numbers = Array.from({ length: BODIES }, (_, number) => number);
  for (let round = 0; round < run.rounds; round++) {
    const ids: string[] = [];
    await inParallel(numbers, CREATES, async (number) => {
      const endpoint = scene.hook(
        `large/${number % PATHS}`,
        ledger.behaviour(() => AT_ONCE),
      );
      const body = { endpoint, delay: LATER, body: BODY };
      const made = await front.create<{ readonly id: string }>('/v1/schedules', `${round} ${number}`, body);
      load.acknowledged.set(made.id, 'one_shot');
      ids.push(made.id);
    });
    const instant = Date.now() + AHEAD_MS;
    const move = { fire_at: new Date(instant).toISOString() };
    await inParallel(ids, MOVES, (id) => front.create(`/v1/schedules/${id}/reschedule`, `move ${id}`, move));
    if (Date.now() > instant) throw new Error('They could not be moved ahead of their instant.');
    await sleep(instant - Date.now() + AFTER_MS);
  }
  const report = await scene.close(({ attempts }) => {
    const interrupted = attempts.filter(({ error }) => error === 'interrupted');
    const lost = nodes.outputs.filter((output) => output.includes(SLOTS_LOST));
    return [
      ...interrupted.map(({ delivery_id }) => `${delivery_id} was interrupted by no death`),
      ...lost.map(() => 'a healthy node lost slots to another'),
    ];
  });
  return { ...report, failedRenewals: report.outputs.join('').split(NOT_RENEWED).length - 1 };
}
