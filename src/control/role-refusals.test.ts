import { expect, test, vi } from 'vitest';
import type { UserId } from '#src/domain/id.ts';
import { openTestWorld, SILENT, type TestWorld } from '#test/process/control-world.ts';
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

function nodesOf(world: TestWorld): readonly RoleRefusals[] {
  return [1, 2, 3].map(() => new RoleRefusals({ ...world, log: SILENT }));
}

async function entries({ store }: TestWorld): Promise<number> {
  return (await store.people.listAudit(ALL, null, 100)).length;
}

test('nodes together write one entry for each person, route and hour', async () => {
  await using world = await openTestWorld();
  const nodes = nodesOf(world);
  const noteEverywhere = () => Promise.all(nodes.flatMap((node) => [node.note(REFUSED), node.note(REFUSED)]));
  await noteEverywhere();
  expect(await entries(world)).toBe(1);
  world.advance(HOUR_MS - 1);
  await noteEverywhere();
  expect(await entries(world)).toBe(1);
  await nodes[0]?.note({ ...REFUSED, route: 'POST users' });
  await nodes[1]?.note({ ...REFUSED, userId: 'usr_2' as UserId });
  expect(await entries(world)).toBe(3);
  world.advance(1);
  await noteEverywhere();
  expect(await entries(world)).toBe(4);
});

test('a node that comes later goes by when the entry was written, not by when it asked', async () => {
  await using world = await openTestWorld();
  const [first, late] = nodesOf(world);
  await first?.note(REFUSED);
  world.advance(HOUR_MS / 2);
  await late?.note(REFUSED);
  expect(await entries(world)).toBe(1);
  world.advance(HOUR_MS / 2);
  await late?.note(REFUSED);
  expect(await entries(world)).toBe(2);
});

test('a person who is refused again and again costs the store nothing', async () => {
  await using world = await openTestWorld();
  const [node] = nodesOf(world);
  const find = vi.spyOn(world.store.people, 'findLoginFailures');
  for (let i = 0; i < 10; i++) await node?.note(REFUSED);
  expect(find).toHaveBeenCalledTimes(1);
});

test.each(['findLoginFailures', 'addAudit'] as const)(
  'one that could not be written, since %s failed, is written the next time',
  async (verb) => {
    await using world = await openTestWorld();
    const refusals = new RoleRefusals({ ...world, log: SILENT });
    vi.spyOn(world.store.people, verb).mockRejectedValueOnce(new Error('away'));
    await refusals.note(REFUSED);
    expect(await entries(world)).toBe(0);
    await refusals.note(REFUSED);
    expect(await entries(world)).toBe(1);
  },
);
