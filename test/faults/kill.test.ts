/**
 * SIGKILL in the middle of a burst of creates. Everything that was acknowledged exists. The rest can be sent
 * again with the same key and takes effect once, whether or not it had been stored when the process died.
 */
import { rmSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, expect, test } from 'vitest';
import type { DeliveryResource, ScheduleResource } from '#src/api/contract/resources.ts';
import { integrityOf, storedTotals } from '#test/fuzz/audit.ts';
import { Prng } from '#test/fuzz/prng.ts';
import { startService, startServiceInThread, TEST_KEY } from '#test/fuzz/service.ts';
import { temporaryDirectory } from '#test/process/sched-process.ts';
import { Client, inParallel } from './client.ts';
import { type Acknowledged, startStorm, type Unacknowledged } from './storm.ts';

const ROUNDS = Number(process.env.SCHED_TEST_KILLS ?? 3);
const CLIENTS = 24;
const AT_ONCE = 16;
/** The most creates that are answered before a kill. */
const CREATES_MAX = 120;
/** How many acknowledged requests of a round are sent again. */
const REPEATED = 10;
const SEED = 20_261_115;

const dataDir = temporaryDirectory();
afterAll(() => rmSync(dataDir, { recursive: true, force: true }));

interface Figures {
  acknowledged: number;
  inFlight: number;
  /** Requests in flight that were stored when the process died. */
  storedUnanswered: number;
  repeated: number;
}

test(`nothing acknowledged is lost, no key is stuck or takes effect twice, in ${ROUNDS} kills`, {
  timeout: 120_000,
}, async () => {
  const prng = new Prng(SEED);
  const figures: Figures = { acknowledged: 0, inFlight: 0, storedUnanswered: 0, repeated: 0 };
  const everAcknowledged: Acknowledged[] = [];
  let succeeded = 0;
  let before: {
    readonly acknowledged: readonly Acknowledged[];
    readonly unacknowledged: readonly Unacknowledged[];
  } = {
    acknowledged: [],
    unacknowledged: [],
  };

  const readAgain = async ({ url }: { readonly url: string }) => {
    const client = new Client(url, TEST_KEY, CLIENTS);
    expect(integrityOf(dataDir)).toBe('ok');
    await inParallel(before.acknowledged, AT_ONCE, (each) => expectStored(client, each));
    const stored = await sendAgain(client, before, figures);
    succeeded += before.acknowledged.length + stored;
    const totals = storedTotals(dataDir);
    expect(totals).toMatchObject({
      schedules: succeeded,
      deliveries: succeeded,
      receipts: succeeded,
      payloads: succeeded,
    });
    return client;
  };

  for (let round = 0; round < ROUNDS; round++) {
    await using sched = await startService(dataDir);
    const client = await readAgain(sched);
    const storm = startStorm(client, `round ${round}`, CLIENTS);
    await storm.reached(prng.between(1, CREATES_MAX));
    await sleep(prng.int(8));
    await sched.kill();
    await storm.over;
    client.close();
    expect(storm.refused).toEqual([]);
    figures.acknowledged += storm.acknowledged.length;
    figures.inFlight += storm.unacknowledged.length;
    everAcknowledged.push(...storm.acknowledged);
    before = storm;
  }
  await using sched = await startServiceInThread(dataDir);
  const client = await readAgain(sched);
  await inParallel(everAcknowledged, AT_ONCE, (each) => expectSchedule(client, each));
  client.close();

  console.log(
    `${ROUNDS} kills (seed ${SEED}): ${figures.acknowledged} creates acknowledged, all there; ` +
      `${figures.inFlight} in flight, of which ${figures.storedUnanswered} had been stored; ` +
      `${figures.repeated} repeated, all replayed; ${succeeded} schedules in the end`,
  );
  expect(figures.acknowledged).toBeGreaterThan(ROUNDS);
  expect(figures.inFlight).toBeGreaterThan(ROUNDS);
});

async function expectSchedule(client: Client, { id, text }: Acknowledged): Promise<void> {
  const found = await client.send('GET', `/v1/schedules/${id}`);
  expect(found).toEqual({ status: 200, replayed: false, text });
}

/** Expects the schedule as it was answered, and its pending delivery. */
async function expectStored(client: Client, acknowledged: Acknowledged): Promise<void> {
  const { id, text } = acknowledged;
  await expectSchedule(client, acknowledged);
  const schedule = JSON.parse(text) as ScheduleResource;
  const { text: page } = await client.send('GET', `/v1/schedules/${id}/deliveries`);
  const { data } = JSON.parse(page) as { readonly data: readonly DeliveryResource[] };
  expect(data).toMatchObject([
    { schedule_id: id, status: 'scheduled', scheduled_for: schedule.next_fire_at },
  ]);
}

/**
 * Repeats requests without an answer, and some with one. Returns how many now succeeded for the first time.
 */
async function sendAgain(
  client: Client,
  before: {
    readonly acknowledged: readonly Acknowledged[];
    readonly unacknowledged: readonly Unacknowledged[];
  },
  figures: Figures,
): Promise<number> {
  const ids = new Set(before.acknowledged.map(({ id }) => id));
  await inParallel(before.unacknowledged, AT_ONCE, async (create) => {
    const answer = await client.create(create);
    expect(answer.status).toBe(201);
    if (answer.replayed) figures.storedUnanswered += 1;
    const { id } = JSON.parse(answer.text) as ScheduleResource;
    expect(ids.has(id)).toBe(false);
    ids.add(id);
    expect(await client.create(create)).toEqual({ ...answer, replayed: true });
  });
  await inParallel(before.acknowledged.slice(-REPEATED), AT_ONCE, async (create) => {
    expect(await client.create(create)).toEqual({ status: 201, replayed: true, text: create.text });
    figures.repeated += 1;
  });
  return before.unacknowledged.length;
}
