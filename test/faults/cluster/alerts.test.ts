/**
 * Kills the node that evaluates alerts, again and again, while incidents begin and end. Three real processes share a
 * real PostgreSQL, and a real receiver counts what arrives.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { readControlSettings } from '#src/app/config.ts';
import { withSecrets } from '#src/app/control-session.ts';
import { createChannel, createCondition } from '#src/control/alerts.ts';
import { Api } from '#test/e2e/client.ts';
import { expectStatus } from '#test/e2e/expectations.ts';
import { TEST_KEY } from '#test/faults/single-node/service.ts';
import { createDatabase, execute, query } from '#test/postgres/databases.ts';
import { sharedPostgres } from '#test/postgres/shared.ts';
import { answer } from '#test/receiver/behaviours.ts';
import { headerOf, startReceiver } from '#test/receiver/receiver.ts';
import { verify } from '#test/receiver/verify.ts';
import { Nodes } from './nodes.ts';

const SECRET = 'whsec_faultsFAULTSfaultsFAULTS01234567';
const FAILURES = 40;
const TEST_MS_MAX = 240_000;
const WAIT_MS_MAX = 90_000;
const LOOK_EVERY_MS = 250;
/** Nobody listens there. */
const DEAD_CHANNEL = 'https://127.0.0.1:9/';

interface MessageRow {
  readonly id: string;
  readonly incident_id: string;
  readonly channel_id: string;
  readonly kind: string;
  readonly status: string;
}

/** A new node starts in the place of the one that is killed. */
async function killUpkeepNode(nodes: Nodes, url: string): Promise<void> {
  const [slot] = (await query(url, 'SELECT owner FROM slots WHERE slot = 0')) as { readonly owner: string }[];
  const node = nodes.running.find(({ name }) => name === slot?.owner) ?? nodes.running[0];
  if (node === undefined) throw new Error('A node runs.');
  await nodes.kill(node.number);
  await nodes.start(node.number);
}

test('each incident has one message at its beginning and one at its end, and each arrives', {
  timeout: TEST_MS_MAX,
}, async () => {
  await using database = await createDatabase(await sharedPostgres());
  const { url } = database;
  await using receiver = await startReceiver();
  await using nodes = new Nodes({ count: 3, databaseUrl: url, url: () => url });
  for (const number of nodes.numbers) await nodes.start(number);
  const [told, failing, breaking] = [receiver.hook(), receiver.hook(answer(301)), receiver.hook(answer(500))];
  const channels = await setUp(nodes, told.url);

  const api = Api.at(() => nodes.running[0]?.process.url ?? '').as(TEST_KEY);
  const times = { base_open: '2s', max_open: '2s', probe_timeout: '2s' };
  const retry_policy = { max_attempts: 1 };
  const profile = expectStatus(
    await api.post<{ id: string }>('/v1/endpoints', {
      name: 'orders',
      url: breaking.url,
      breaker_policy: { threshold: 5, ...times },
      retry_policy,
    }),
    201,
  );
  const send = async (body: object) =>
    expectStatus(await api.post('/v1/schedules', { delay: '1s', ...body }), 201);
  const fail = async () => {
    await send({ endpoint: failing.url, retry_policy });
    await send({ endpoint_id: profile.id });
  };
  for (let each = 0; each < FAILURES; each++) await fail();

  const messages = async () =>
    (await query(
      url,
      'SELECT id, incident_id, channel_id, kind, status FROM alert_messages',
    )) as MessageRow[];
  const arrived = async (kind: string) =>
    (await messages()).filter(
      (one) => one.kind === kind && one.channel_id === channels.live && one.status === 'delivered',
    ).length;
  const until = async (act: () => Promise<boolean>) => {
    for (const end = Date.now() + WAIT_MS_MAX; Date.now() < end; await sleep(LOOK_EVERY_MS)) {
      if (await act()) return;
    }
    throw new Error(`It did not happen:\n${nodes.outputs.join('\n')}`);
  };

  for (const pauseMs of [500, 2_500, 4_500]) {
    await killUpkeepNode(nodes, url);
    await sleep(pauseMs);
  }
  // A node that is killed takes what it counted and has not saved with it, so more have to fail.
  await until(async () => {
    await fail();
    return (await arrived('opened')) === 2;
  });

  // The endpoint works again. Time is too long to wait, so the failures and the quiet time are moved into the past.
  breaking.behave(answer(200));
  await send({ endpoint_id: profile.id });
  const passTime = async () => {
    await execute(url, 'DELETE FROM stats');
    await execute(
      url,
      `UPDATE alert_incidents SET quiet_since = quiet_since - 300000
       WHERE ended_at IS NULL AND quiet_since > extract(epoch FROM now()) * 1000 - 200000`,
    );
  };
  for (const pauseMs of [1_000, 3_000]) {
    await passTime();
    await killUpkeepNode(nodes, url);
    await sleep(pauseMs);
  }
  await until(async () => {
    await passTime();
    return (await arrived('closed')) === 2;
  });

  const all = await messages();
  const counted = Map.groupBy(all, (one) => `${one.incident_id} ${one.channel_id} ${one.kind}`);
  expect([...counted.values()].filter((same) => same.length !== 1)).toEqual([]);
  // Two incidents, two channels, a beginning and an end. The channel that is dead has no incident of its own.
  expect(new Set(all.map((one) => one.incident_id)).size).toBe(2);
  expect(all.map(({ kind }) => kind).toSorted()).toEqual([
    ...Array.from({ length: 4 }, () => 'closed'),
    ...Array.from({ length: 4 }, () => 'opened'),
  ]);
  const sent = Map.groupBy(told.requests, (request) => headerOf(request, 'Sched-Delivery-Id'));
  const expected = all.filter((one) => one.channel_id === channels.live).map(({ id }) => id);
  expect([...sent.keys()].toSorted()).toEqual(expected.toSorted());
  for (const request of told.requests) expect(verify(request, SECRET)).toBe('verified');
  console.log(`alerts: ${expected.length} messages arrived in ${told.requests.length} requests`);
});

async function setUp(nodes: Nodes, url: string) {
  const settings = readControlSettings({ flags: {}, env: nodes.settings });
  return withSecrets(settings, async (control) => {
    const project = await control.store.findProject('default');
    if (project === null) throw new Error('There is a project.');
    const { test: partition } = project.partitions;
    const commands = { ...control, alerts: control.store.alerts, httpAllowed: false };
    const live = await createChannel(commands, partition, { kind: 'webhook', name: 'live', url });
    const dead = await createChannel(commands, partition, {
      kind: 'webhook',
      name: 'dead',
      url: DEAD_CHANNEL,
    });
    const channelIds = [live.id, dead.id];
    const shared = { channelIds, enabled: true };
    const none = { threshold: null, windowMinutes: null };
    await createCondition(commands, partition, { kind: 'breaker_opened', ...none, ...shared });
    const limits = { threshold: 10, windowMinutes: 60 };
    await createCondition(commands, partition, { kind: 'deliveries_failed', ...limits, ...shared });
    return { live: live.id };
  });
}
