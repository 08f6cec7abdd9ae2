import { Client } from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { DueDelivery } from '#src/domain/due-delivery.ts';
import type { EndpointKey } from '#src/domain/endpoint-key.ts';
import type { DeliveryId } from '#src/domain/id.ts';
import { instant } from '#src/domain/instant.ts';
import type { Partition } from '#src/domain/project.ts';
import { systemTimers } from '#src/system/timers.ts';
import { addressOf } from '#test/postgres/contract-databases.ts';
import { createDatabase, type TestDatabase } from '#test/postgres/databases.ts';
import { type PostgresProxy, startProxy } from '#test/postgres/proxy.ts';
import { sharedPostgres } from '#test/postgres/shared.ts';
import { START } from '#test/store-contract/builders.ts';
import { PeerChannel } from './peer-channel.ts';

let database: TestDatabase;
let proxy: PostgresProxy;
let sender: RecordingNode;
let receiver: RecordingNode;

/** A node on the channel that records the messages it receives. */
class RecordingNode {
  readonly channel: PeerChannel;
  dues: DueDelivery[] = [];
  rescans = 0;
  changes = 0;

  constructor(node: string, url: string) {
    this.channel = new PeerChannel({
      address: addressOf(url),
      timers: systemTimers,
      node,
      listener: {
        due: (due) => void this.dues.push(due),
        rescan: () => void this.rescans++,
        slotsChanged: () => void this.changes++,
      },
    });
  }

  clear(): void {
    this.dues = [];
    this.rescans = 0;
    this.changes = 0;
  }
}

function dueAt(index: number, endpoint = 'https://example.com/'): DueDelivery {
  return {
    partition: 1 as Partition,
    id: `dlv_${index}` as DeliveryId,
    dueAt: instant(START + index),
    deadline: index % 2 === 0 ? null : instant(START + 2 * index),
    endpoint: endpoint as EndpointKey,
    origin: 'https://example.com',
    payloadBytes: 1_000 * index,
  };
}

beforeAll(async () => {
  const server = await sharedPostgres();
  database = await createDatabase(server);
  proxy = await startProxy(Number(new URL(server).port));
  sender = new RecordingNode('sender', database.url);
  receiver = new RecordingNode('receiver', proxy.through(database.url));
  await Promise.all([sender.channel.open(), receiver.channel.open()]);
});
afterAll(async () => {
  await Promise.all([sender.channel.close(), receiver.channel.close()]);
  await proxy[Symbol.asyncDispose]();
  await database.drop();
});
beforeEach(() => {
  sender.clear();
  receiver.clear();
});

test('due deliveries are sent to other nodes unchanged, and not to the sender', async () => {
  const sent = [dueAt(1), dueAt(2, 'https://example.com/schön?"\\')];
  for (const due of sent) sender.channel.due(due);
  await expect.poll(() => receiver.dues).toEqual(sent);
  expect(sender.dues).toEqual([]);
  expect(receiver.rescans).toBe(0);
});

test('slot changes and rescans are sent', async () => {
  sender.channel.slotsChanged();
  sender.channel.rescan();
  await expect.poll(() => [receiver.rescans, receiver.changes]).toEqual([1, 1]);
});

test('many due deliveries arrive in order, in as many messages as needed', async () => {
  const sent = Array.from({ length: 300 }, (_, index) => dueAt(index));
  for (const due of sent) sender.channel.due(due);
  await expect.poll(() => receiver.dues).toEqual(sent);
});

test('too many due deliveries, or one that is too long, become a rescan', async () => {
  for (let index = 0; index < 600; index++) sender.channel.due(dueAt(index));
  await expect.poll(() => receiver.rescans).toBe(1);
  expect(receiver.dues).toHaveLength(500);
  receiver.clear();
  sender.channel.due(dueAt(1, `https://example.com/${'x'.repeat(8_000)}`));
  await expect.poll(() => receiver.rescans).toBe(1);
  expect(receiver.dues).toEqual([]);
});

test.for([
  'nonsense',
  'null',
  '{}',
  '{"from":"x","dues":7}',
  '{"from":"x","dues":[{"partition":"1"}],"rescan":"yes"}',
])('%s is ignored', async (payload) => {
  const client = new Client({ connectionString: database.url });
  await client.connect();
  await client.query('SELECT pg_notify($1, $2)', ['sched', payload]);
  await client.end();
  sender.channel.slotsChanged();
  await expect.poll(() => receiver.changes).toBe(1);
  expect([receiver.dues, receiver.rescans]).toEqual([[], 0]);
});

describe('after the connection was lost', () => {
  test('the node listens again, and scans for what it may have missed', async () => {
    proxy.cut();
    sender.channel.due(dueAt(1));
    await expect
      .poll(() => [receiver.rescans > 0, receiver.changes > 0], { timeout: 5_000 })
      .toEqual([true, true]);
    receiver.clear();
    sender.channel.due(dueAt(2));
    await expect.poll(() => receiver.dues).toEqual([dueAt(2)]);
  });

  test('messages that cannot be sent are dropped, and later ones are sent', async () => {
    proxy.refuse();
    proxy.cut();
    for (let index = 0; index < 10; index++) receiver.channel.due(dueAt(index));
    await proxy.accept();
    await expect.poll(() => receiver.rescans, { timeout: 5_000 }).toBeGreaterThan(0);
    receiver.channel.due(dueAt(11));
    await expect.poll(() => sender.dues.at(-1)).toEqual(dueAt(11));
  });
});
