import { Client } from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { DueDelivery } from '#src/domain/due-delivery.ts';
import type { EndpointKey } from '#src/domain/endpoint-key.ts';
import type { DeliveryId } from '#src/domain/id.ts';
import { instant } from '#src/domain/instant.ts';
import type { Partition } from '#src/domain/project.ts';
import { START } from '#src/store/contract/builders.ts';
import { systemTimers } from '#src/system/timers.ts';
import { addressOf } from '#test/postgres/contract-databases.ts';
import { createDatabase, type TestDatabase } from '#test/postgres/databases.ts';
import { type PostgresProxy, startProxy } from '#test/postgres/proxy.ts';
import { sharedPostgres } from '#test/postgres/shared.ts';
import { connector } from './connect.ts';
import { PeerChannel } from './peer-channel.ts';

let database: TestDatabase;
let proxy: PostgresProxy;
let speaker: Heard;
let listener: Heard;

/** A node on the channel that keeps what it hears. */
class Heard {
  readonly channel: PeerChannel;
  dues: DueDelivery[] = [];
  looks = 0;
  changes = 0;

  constructor(node: string, url: string) {
    this.channel = new PeerChannel({
      connect: connector(addressOf(url), { timers: systemTimers, decodeText: (text) => text }),
      timers: systemTimers,
      node,
      listener: {
        due: (due) => void this.dues.push(due),
        rescan: () => void this.looks++,
        slotsChanged: () => void this.changes++,
      },
    });
  }

  forget(): void {
    this.dues = [];
    this.looks = 0;
    this.changes = 0;
  }
}

function dueAt(place: number, endpoint = 'https://example.com/'): DueDelivery {
  return {
    partition: 1 as Partition,
    id: `dlv_${place}` as DeliveryId,
    dueAt: instant(START + place),
    deadline: place % 2 === 0 ? null : instant(START + 2 * place),
    endpoint: endpoint as EndpointKey,
    origin: 'https://example.com',
    payloadBytes: 1_000 * place,
  };
}

beforeAll(async () => {
  const server = await sharedPostgres();
  database = await createDatabase(server);
  proxy = await startProxy(Number(new URL(server).port));
  speaker = new Heard('speaker', database.url);
  listener = new Heard('listener', proxy.through(database.url));
  await Promise.all([speaker.channel.open(), listener.channel.open()]);
});
afterAll(async () => {
  await Promise.all([speaker.channel.close(), listener.channel.close()]);
  await proxy[Symbol.asyncDispose]();
  await database.drop();
});
beforeEach(() => {
  speaker.forget();
  listener.forget();
});

test('what is due is told to the others as it is, and not to oneself', async () => {
  const told = [dueAt(1), dueAt(2, 'https://example.com/schön?"\\')];
  for (const due of told) speaker.channel.due(due);
  await expect.poll(() => listener.dues).toEqual(told);
  expect(speaker.dues).toEqual([]);
  expect(listener.looks).toBe(0);
});

test('a change of slots, and that there is something to look for', async () => {
  speaker.channel.slotsChanged();
  speaker.channel.rescan();
  await expect.poll(() => [listener.looks, listener.changes]).toEqual([1, 1]);
});

test('many are told in their order, however many notes it takes', async () => {
  const told = Array.from({ length: 300 }, (_, place) => dueAt(place));
  for (const due of told) speaker.channel.due(due);
  await expect.poll(() => listener.dues).toEqual(told);
});

test('of too many, and of one too long for a note, the others hear that there is something', async () => {
  for (let place = 0; place < 600; place++) speaker.channel.due(dueAt(place));
  await expect.poll(() => listener.looks).toBe(1);
  expect(listener.dues).toHaveLength(500);
  listener.forget();
  speaker.channel.due(dueAt(1, `https://example.com/${'x'.repeat(8_000)}`));
  await expect.poll(() => listener.looks).toBe(1);
  expect(listener.dues).toEqual([]);
});

test.for([
  'nonsense',
  'null',
  '{}',
  '{"from":"x","dues":7}',
  '{"from":"x","dues":[{"partition":"1"}],"look":"yes"}',
])('%s is passed over', async (payload) => {
  const client = new Client({ connectionString: database.url });
  await client.connect();
  await client.query('SELECT pg_notify($1, $2)', ['sched', payload]);
  await client.end();
  speaker.channel.slotsChanged();
  await expect.poll(() => listener.changes).toBe(1);
  expect([listener.dues, listener.looks]).toEqual([[], 0]);
});

describe('after the connection was lost', () => {
  test('it listens again, and looks for what it may have missed', async () => {
    proxy.cut();
    speaker.channel.due(dueAt(1));
    await expect
      .poll(() => [listener.looks > 0, listener.changes > 0], { timeout: 5_000 })
      .toEqual([true, true]);
    listener.forget();
    speaker.channel.due(dueAt(2));
    await expect.poll(() => listener.dues).toEqual([dueAt(2)]);
  });

  test('what cannot be told is dropped, and whoever speaks goes on', async () => {
    proxy.refuse();
    proxy.cut();
    for (let place = 0; place < 10; place++) listener.channel.due(dueAt(place));
    await proxy.accept();
    await expect.poll(() => listener.looks, { timeout: 5_000 }).toBeGreaterThan(0);
    listener.channel.due(dueAt(11));
    await expect.poll(() => speaker.dues.at(-1)).toEqual(dueAt(11));
  });
});
