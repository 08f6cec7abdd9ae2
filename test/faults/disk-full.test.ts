/**
 * The disk is full. Creates are refused with 503 and leave nothing behind, `/readyz` reports it, and reads
 * continue. When there is space again, writes continue without a restart. The tests limit the size of the
 * database file, and use a real full file system where one can be mounted.
 */
import { describe, expect, test, vi } from 'vitest';
import { integrityOf, storedTotals } from '#test/fuzz/audit.ts';
import { TEST_KEY } from '#test/fuzz/service.ts';
import { Client, type Create, inParallel } from './client.ts';
import { canMount, type FullDisk, onSmallFileSystem, withPageLimit } from './full-disks.ts';
import type { Acknowledged } from './storm.ts';

const AT_ONCE = 8;
/** Large creates fill the disk quickly. Small ones fill the last pages. */
const BODY_CHARACTERS = [50_000, 4_000, 0];
const BATCHES_MAX = 400;

const DISKS: readonly (readonly [name: string, isHere: boolean, open: () => Promise<FullDisk>])[] = [
  ['the database may not grow', true, withPageLimit],
  ['the file system is full', canMount(), onSmallFileSystem],
];

describe.each(DISKS)('%s', (_name, isHere, open) => {
  test.skipIf(!isHere)('creates are refused, nothing is lost, and space heals it', async () => {
    await using disk = await open();
    const client = new Client(disk.url, TEST_KEY, AT_ONCE);
    // The answer to a probe is up to a second old.
    const expectReadiness = (status: number) =>
      vi.waitFor(async () => expect((await client.send('GET', '/readyz')).status).toBe(status), 5_000);
    await expectReadiness(200);

    const { acknowledged, refused } = await fill(client);
    expect(acknowledged.length).toBeGreaterThan(10);
    expect(refused.length).toBeGreaterThanOrEqual(AT_ONCE);

    await expectReadiness(503);
    await vi.waitFor(() => expect(disk.log()).toMatch(/store unavailable/));
    expect(disk.log()).toMatch(/database or disk is full/);
    expect((await client.send('GET', '/healthz')).status).toBe(200);
    expect((await client.send('GET', '/v1/schedules?limit=100')).status).toBe(200);
    await inParallel(acknowledged, AT_ONCE, (each) => expectStored(client, each));
    expect(storedTotals(disk.dataDir)).toMatchObject(countsOf(acknowledged));

    // The disk is still full, because nothing in the meantime has freed space.
    await expectRefused(client, createOf('still full', 0));
    await expectReadiness(503);

    disk.freeSpace();
    const again = refused.slice(0, AT_ONCE);
    await inParallel(again, AT_ONCE, async (create) => {
      const answer = await client.create(create);
      expect(answer).toMatchObject({ status: 201, replayed: false });
      acknowledged.push({ ...create, text: answer.text, id: idOf(answer.text) });
    });
    await expectReadiness(200);
    await inParallel(acknowledged, AT_ONCE, (each) => expectStored(client, each));
    client.close();

    await disk.stop();
    expect(integrityOf(disk.dataDir)).toBe('ok');
    expect(storedTotals(disk.dataDir)).toMatchObject(countsOf(acknowledged));
    console.log(
      `${acknowledged.length - again.length} creates until full, ${refused.length} refused, ${again.length} of them accepted later`,
    );
  });
});

function createOf(key: string, bodyCharacters: number): Create {
  const body = bodyCharacters === 0 ? null : 'b'.repeat(bodyCharacters);
  return { key, body: JSON.stringify({ endpoint: 'https://full.invalid/', delay: '24h', body }) };
}

function idOf(text: string): string {
  return (JSON.parse(text) as { readonly id: string }).id;
}

function countsOf(acknowledged: readonly Acknowledged[]) {
  const count = acknowledged.length;
  return { schedules: count, deliveries: count, receipts: count };
}

/** Creates schedules of every size until none is accepted any more. */
async function fill(client: Client) {
  const acknowledged: Acknowledged[] = [];
  const refused: Create[] = [];
  for (const bodyCharacters of BODY_CHARACTERS) {
    for (let batch = 0; batch < BATCHES_MAX; batch++) {
      const acknowledgedBefore = acknowledged.length;
      await Promise.all(
        Array.from({ length: AT_ONCE }, async (_, i) => {
          const create = createOf(`fill ${bodyCharacters}/${batch}/${i}`, bodyCharacters);
          const answer = await client.create(create);
          if (answer.status === 201) {
            acknowledged.push({ ...create, text: answer.text, id: idOf(answer.text) });
          } else {
            expectUnavailable(answer);
            refused.push(create);
          }
        }),
      );
      if (acknowledged.length === acknowledgedBefore) break;
    }
  }
  return { acknowledged, refused };
}

function expectUnavailable(answer: { readonly status: number; readonly text: string }): void {
  expect(answer.status).toBe(503);
  expect(JSON.parse(answer.text)).toMatchObject({ error: { type: 'api_error', code: 'unavailable' } });
}

async function expectRefused(client: Client, create: Create): Promise<void> {
  expectUnavailable(await client.create(create));
}

async function expectStored(client: Client, { id, text }: Acknowledged): Promise<void> {
  expect(await client.send('GET', `/v1/schedules/${id}`)).toEqual({ status: 200, replayed: false, text });
}
