/**
 * Measures paced deliveries alone, beside thousands of dead letters, and beside the same dead letters when each is told
 * to one receiver. Notifications must not delay the paced deliveries, flood the receiver or fill the memory.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { request } from 'undici';
import type { Contender, Job } from './contender.ts';
import type {
  LatenessRound,
  NotificationsLine,
  NotificationsResults,
  NotificationsRound,
  Scale,
} from './results.ts';
import { schedOnPostgres, schedOnSqlite } from './sched/contenders.ts';
import { API_KEY } from './sched/service.ts';
import { type BenchContext, jobsOf, roundOf, startCpuTimer, warmUp } from './workloads.ts';

const STORES = { sqlite: schedOnSqlite, postgres: schedOnPostgres(1) } as const;
const BESIDE = ['nothing', 'dead_letters', 'told_dead_letters'] as const;
type Beside = NotificationsLine['beside'];

const PATH = '/beside/';
const DEAD = '/dead/';
const TOLD = '/told/';
/** Dead letters go to as many endpoints as this. */
const DEAD_ENDPOINTS = 100;
const STORED_PER_SECOND = 1_500;
const LEAD_MS = 4_000;
const ARRIVE_MS_MAX = 30_000;
/** After the last dead letter, some of the notifications that wait are sent. */
const SETTLE_MS = 2_000;
const MS_PER_SECOND = 1_000;

export function notificationsSteps({ notifications }: Scale): number {
  return notifications.rounds * BESIDE.length * Object.keys(STORES).length;
}

export async function measureNotifications(context: BenchContext): Promise<NotificationsResults> {
  const { rounds } = context.scale.notifications;
  const lines: { store: keyof typeof STORES; beside: Beside; rounds: NotificationsRound[] }[] = [];
  for (const store of Object.keys(STORES) as (keyof typeof STORES)[]) {
    for (const beside of BESIDE) lines.push({ store, beside, rounds: [] });
  }
  for (let round = 1; round <= rounds; round++) {
    for (const line of lines) {
      context.progress.step(`round ${round}, ${line.store}, paced beside ${line.beside}`);
      line.rounds.push(await measure(context, STORES[line.store], line.beside));
    }
  }
  return { lines };
}

async function measure(
  { resources, receiver, scale }: BenchContext,
  contender: Contender,
  beside: Beside,
): Promise<NotificationsRound> {
  await using running = await contender.start(resources);
  await warmUp(running, receiver);
  const { rate, seconds, deadLetters } = scale.notifications;
  const count = rate * seconds;
  const dead = beside === 'nothing' ? 0 : deadLetters;
  const start = Date.now() + LEAD_MS + ((count + dead) / STORED_PER_SECOND) * MS_PER_SECOND;
  const spread = (number: number, of: number) => Math.round(start + (number * seconds * MS_PER_SECOND) / of);
  const [url = ''] = running.urls ?? [];
  const notify = beside === 'told_dead_letters' ? await notifyOf(url, receiver.url + TOLD) : null;
  const letters: readonly Job[] = Array.from({ length: dead }, (_, number) => ({
    number,
    due: spread(number, dead),
    url: `${receiver.url}${DEAD}${number % DEAD_ENDPOINTS}`,
    ...(notify !== null && { more: { notify } }),
  }));
  const paced = jobsOf(
    receiver.url + PATH,
    Array.from({ length: count }, (_, number) => spread(number, count)),
  );
  receiver.expect(
    { path: PATH, count },
    { path: DEAD, count: Math.max(dead, 1), answers: 'and redirect' },
    { path: TOLD, count: Math.max(dead, 1), isUnnumbered: true },
  );
  await running.store([...letters, ...paced]);
  if (Date.now() > start) throw new Error('Storing took too long: nothing was measured.');
  await sleep(start - Date.now());
  const memoryMbBefore = running.memoryMb();
  const cpu = startCpuTimer(running);
  await receiver.complete(PATH, start + seconds * MS_PER_SECOND - Date.now() + ARRIVE_MS_MAX);
  const lateness: LatenessRound = roundOf(count, await receiver.arrivalsAt(PATH), cpu());
  await sleep(SETTLE_MS);
  const deadArrived = await receiver.arrivalsAt(DEAD);
  const told = await receiver.arrivalsAt(TOLD);
  return {
    lateness,
    deadLetters: deadArrived.latenessMs.length,
    told: told.latenessMs.length,
    toldInBusiestSecond: told.busiestSecond,
    memoryMbBefore,
    memoryMbAfter: running.memoryMb(),
  };
}

/** Creates the endpoint profile that is told. */
async function notifyOf(origin: string, url: string): Promise<object> {
  const { statusCode, body } = await request(`${origin}/v1/endpoints`, {
    method: 'POST',
    headers: { authorization: `Bearer ${API_KEY}`, 'content-type': 'application/json' },
    body: JSON.stringify({ url }),
  });
  const { id } = (await body.json()) as { readonly id: string };
  if (statusCode !== 201) throw new Error(`The endpoint profile was not created: ${statusCode}.`);
  return { endpoint_id: id, on: ['dead_letter'] };
}
