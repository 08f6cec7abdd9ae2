import { expect, test, vi } from 'vitest';
import type { UserId } from '#src/domain/id.ts';
import { type ControlHarness, openControlHarness, SILENT } from '#test/process/control-harness.ts';
import { RoleRefusals } from './role-refusals.ts';

const HOUR_MS = 3_600_000;
const ALL = { userId: null, projectId: null, action: null };
const REFUSED = {
  userId: 'usr_1' as UserId,
  actor: 'ada',
  address: '192.0.2.1',
  peer: '192.0.2.1',
  projectId: null,
  mode: null,
  route: 'GET users',
};

function nodesOf(harness: ControlHarness): readonly RoleRefusals[] {
  return [1, 2, 3].map(() => new RoleRefusals({ ...harness, log: SILENT }));
}

async function entries({ store }: ControlHarness): Promise<number> {
  return (await store.people.listAudit(ALL, null, 100)).length;
}

test('all nodes together write one entry for each user, route and hour', async () => {
  await using harness = await openControlHarness();
  const nodes = nodesOf(harness);
  const noteEverywhere = () =>
    Promise.all(nodes.flatMap((node) => [node.record(REFUSED), node.record(REFUSED)]));
  await noteEverywhere();
  expect(await entries(harness)).toBe(1);
  harness.advance(HOUR_MS - 1);
  await noteEverywhere();
  expect(await entries(harness)).toBe(1);
  await nodes[0]?.record({ ...REFUSED, route: 'POST users' });
  await nodes[1]?.record({ ...REFUSED, userId: 'usr_2' as UserId });
  expect(await entries(harness)).toBe(3);
  harness.advance(1);
  await noteEverywhere();
  expect(await entries(harness)).toBe(4);
});

test('a later node counts the hour from the entry, not from its own first refusal', async () => {
  await using harness = await openControlHarness();
  const [first, late] = nodesOf(harness);
  await first?.record(REFUSED);
  harness.advance(HOUR_MS / 2);
  await late?.record(REFUSED);
  expect(await entries(harness)).toBe(1);
  harness.advance(HOUR_MS / 2);
  await late?.record(REFUSED);
  expect(await entries(harness)).toBe(2);
});

test('repeated refusals of a user cost the store nothing', async () => {
  await using harness = await openControlHarness();
  const [node] = nodesOf(harness);
  const find = vi.spyOn(harness.store.people, 'findFailureCounts');
  for (let i = 0; i < 10; i++) await node?.record(REFUSED);
  expect(find).toHaveBeenCalledTimes(1);
});

test.each(['findFailureCounts', 'addAudit'] as const)(
  'a refusal that was not written because %s failed is written the next time',
  async (verb) => {
    await using harness = await openControlHarness();
    const refusals = new RoleRefusals({ ...harness, log: SILENT });
    vi.spyOn(harness.store.people, verb).mockRejectedValueOnce(new Error('away'));
    await refusals.record(REFUSED);
    expect(await entries(harness)).toBe(0);
    await refusals.record(REFUSED);
    expect(await entries(harness)).toBe(1);
  },
);
