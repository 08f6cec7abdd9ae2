/**
 * SIGTERM in the middle of a burst of creates. The service stops accepting, answers what it has accepted, and
 * ends with exit code 0. A request without an answer was never accepted. Its connection was refused, or it
 * was written to an idle connection at the moment when the service closed it. The store shows that it had no
 * effect: there are as many receipts as acknowledged requests, and none for the key of an unanswered one.
 */
import { rmSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, expect, test } from 'vitest';
import { integrityOf, storedTotals } from '#test/fuzz/audit.ts';
import { Prng } from '#test/fuzz/prng.ts';
import { startService, startServiceInThread, TEST_KEY } from '#test/fuzz/service.ts';
import { temporaryDirectory } from '#test/process/sched-process.ts';
import { Client, inParallel } from './client.ts';
import { type Acknowledged, startStorm } from './storm.ts';

const ROUNDS = 3;
const CLIENTS = 32;
const SEED = 4711;
/** The most creates that are answered before a stop. */
const CREATES_MAX = 150;
/** The connection ended before the request was accepted. */
const NOT_ACCEPTED = ['ECONNREFUSED', 'ECONNRESET', 'EPIPE'];

const dataDir = temporaryDirectory();
afterAll(() => rmSync(dataDir, { recursive: true, force: true }));

test(`every accepted create is answered and stored, in ${ROUNDS} stops`, async () => {
  const prng = new Prng(SEED);
  const unanswered = new Map<string, number>();
  let acknowledged = 0;
  let lastAcknowledged: readonly Acknowledged[] = [];
  const expectReadable = (client: Client) =>
    inParallel(lastAcknowledged, CLIENTS, async ({ id, text }) => {
      expect(await client.send('GET', `/v1/schedules/${id}`)).toEqual({ status: 200, replayed: false, text });
    });

  for (let round = 0; round < ROUNDS; round++) {
    await using sched = await startService(dataDir);
    const client = new Client(sched.url, TEST_KEY, CLIENTS);
    await expectReadable(client);
    const storm = startStorm(client, `round ${round}`, CLIENTS);
    await storm.reached(prng.between(1, CREATES_MAX));
    await sleep(prng.int(10));
    const { code, signal } = await sched.stop();
    await storm.over;
    client.close();

    expect({ code, signal }).toEqual({ code: 0, signal: null });
    expect(storm.refused).toEqual([]);
    for (const { why } of storm.unacknowledged) unanswered.set(why, (unanswered.get(why) ?? 0) + 1);
    expect(NOT_ACCEPTED).toEqual(expect.arrayContaining([...unanswered.keys()]));
    acknowledged += storm.acknowledged.length;
    expect(storedTotals(dataDir)).toMatchObject({
      schedules: acknowledged,
      deliveries: acknowledged,
      receipts: acknowledged,
    });
    expect(integrityOf(dataDir)).toBe('ok');
    lastAcknowledged = storm.acknowledged;
  }
  await using last = await startServiceInThread(dataDir);
  const reader = new Client(last.url, TEST_KEY, CLIENTS);
  await expectReadable(reader);
  reader.close();

  const reasons = [...unanswered].map(([why, count]) => `${count} ${why}`).join(', ');
  console.log(
    `${ROUNDS} stops (seed ${SEED}): ${acknowledged} creates acknowledged, all stored; never accepted: ${reasons}`,
  );
});
