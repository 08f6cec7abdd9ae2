/**
 * Kills nodes while deliveries end that are told. Three real processes share a real PostgreSQL. Each end has exactly one
 * notification, and each notification arrives. `SCHED_TEST_TOLD` and `SCHED_TEST_KILLS` make it longer.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { Api } from '#test/e2e/client.ts';
import { expectStatus } from '#test/e2e/expectations.ts';
import { TEST_KEY } from '#test/faults/single-node/service.ts';
import { createDatabase, query } from '#test/postgres/databases.ts';
import { sharedPostgres } from '#test/postgres/shared.ts';
import { answer, delayed } from '#test/receiver/behaviours.ts';
import { headerOf, startReceiver } from '#test/receiver/receiver.ts';
import { verify } from '#test/receiver/verify.ts';
import { Nodes } from './nodes.ts';

const SECRET = 'whsec_faultsFAULTSfaultsFAULTS01234567';
const TOLD = Number(process.env.SCHED_TEST_TOLD ?? 150);
const KILLS = Number(process.env.SCHED_TEST_KILLS ?? 3);
const ENDPOINTS = 10;
/** The deliveries end within this time. The nodes die meanwhile. */
const SPREAD_S = 4 + 2 * KILLS;
const WAIT_MS_MAX = 180_000;
const LOOK_EVERY_MS = 250;
const OUTCOMES = ['succeeded', 'dead_letter', 'expired'];

interface Row {
  readonly id: string;
  readonly status: string;
  readonly notification_of: string | null;
}

test('each end has one notification, and each notification arrives', {
  timeout: 2 * WAIT_MS_MAX,
}, async () => {
  await using database = await createDatabase(await sharedPostgres());
  const { url } = database;
  await using receiver = await startReceiver();
  await using nodes = new Nodes({ count: 3, databaseUrl: url, url: () => url });
  for (const number of nodes.numbers) await nodes.start(number);
  const told = receiver.hook();
  // A slow answer is often in flight when its node dies.
  const behaviours = [delayed(300, answer(200)), answer(301), delayed(200, answer(503))];
  const hooks = Array.from({ length: ENDPOINTS }, (_, at) =>
    receiver.hook(behaviours[at % behaviours.length] ?? answer(200)),
  );
  const api = Api.at(() => nodes.running[0]?.process.url ?? '').as(TEST_KEY);
  const { id: endpoint_id } = expectStatus(
    await api.post<{ id: string }>('/v1/endpoints', { url: told.url, retry_policy: { base: '1s' } }),
    201,
  );
  for (let made = 0; made < TOLD; made++) {
    const order = {
      endpoint: `${hooks[made % ENDPOINTS]?.url}/${made}`,
      delay: `${1 + (made * SPREAD_S) / TOLD}s`,
      retry_policy: { max_attempts: 2, base: '1s' },
      notify: { endpoint_id, on: OUTCOMES },
    };
    expectStatus(await api.post('/v1/schedules', order), 201);
  }
  for (let kills = 0; kills < KILLS; kills++) {
    const [node] = nodes.running;
    if (node === undefined) throw new Error('A node runs.');
    await nodes.kill(node.number);
    await nodes.start(node.number);
    await sleep(500);
  }

  const rows = async () =>
    (await query(url, 'SELECT id, status, notification_of FROM deliveries')) as readonly Row[];
  const hasEnded = ({ status }: Row) => OUTCOMES.includes(status);
  let all = await rows();
  const isOver = () => all.length >= 2 * TOLD && all.every(hasEnded);
  for (const end = Date.now() + WAIT_MS_MAX; Date.now() < end && !isOver(); await sleep(LOOK_EVERY_MS))
    all = await rows();

  const ends = all.filter((one) => one.notification_of === null);
  const notifications = all.filter((one) => one.notification_of !== null);
  expect(ends.filter(hasEnded)).toHaveLength(TOLD);
  expect(notifications.map((one) => one.notification_of ?? '').toSorted()).toEqual(
    ends.map(({ id }) => id).toSorted(),
  );
  const arrived = new Set(told.requests.map((request) => headerOf(request, 'Sched-Delivery-Id')));
  expect([...arrived].toSorted()).toEqual(notifications.map(({ id }) => id).toSorted());
  for (const request of told.requests) expect(verify(request, SECRET)).toBe('verified');
  console.log(
    `notifications: ${ends.length} ends, ${KILLS} kills, ${notifications.length} notifications in ${told.requests.length} requests`,
  );
});
