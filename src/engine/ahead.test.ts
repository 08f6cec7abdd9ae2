/** What is made ready before its instant: by the engine as a whole, and within which bounds. */
import { describe, expect, test } from 'vitest';
import type { Due } from '#src/domain/due.ts';
import type { DeliveryId } from '#src/domain/id.ts';
import { instant } from '#src/domain/instant.ts';
import type { BreakerPolicy } from '#src/domain/profile.ts';
import { cancel, edit, pause, reschedule } from '#src/domain/schedule-life.ts';
import { BROKEN, EngineTestWorld, headerOf, requireDue } from '#test/engine-world.ts';
import { Ahead, type Load } from './ahead.ts';
import { Engine } from './engine.ts';
import { Gates } from './gates.ts';
import { RequestBuilder, SMALL_PAYLOAD_BYTES_MAX } from './request-builder.ts';
import { EVERYWHERE } from './territory.ts';
import { CONNECTIONS_MAX } from './warmth.ts';

const ALONE = () => false;

async function started(world: EngineTestWorld): Promise<Engine> {
  const engine = new Engine(world, { retentionMs: 0 });
  await engine.start();
  return engine;
}

/** The same object, but for some of its members. */
function overridden<T extends object>(object: T, own: Partial<T>): T {
  return new Proxy(object, {
    get(target, name) {
      if (Object.hasOwn(own, name)) return Reflect.get(own, name);
      const member: unknown = Reflect.get(target, name, target);
      return typeof member === 'function' ? member.bind(target) : member;
    },
  });
}

describe('at its instant', () => {
  test('a delivery is claimed, signed and sent: everything else was read before', async () => {
    await using world = await EngineTestWorld.open();
    await world.schedule({ payload: { headers: [['X-Own', 'o']], body: '{}' } });
    await started(world);
    await world.time.advance(4_999);
    expect(world.faults.times('findMessages')).toBe(1);
    const before = world.faults.asked.length;
    await world.time.advance(1);
    const [sent] = world.egress.sent;
    expect(sent?.at).toBe(world.now);
    expect(sent && headerOf(sent.request, 'X-Own')).toBe('o');
    expect(sent && headerOf(sent.request, 'Sched-Timestamp')).toBe(String(Math.floor(world.now / 1_000)));
    expect(world.faults.asked.slice(before).filter((verb) => verb !== 'listSweeps')).toEqual([
      'claim',
      'listSecrets',
      'settle',
    ]);
  });

  test('one that goes to a profile is read again, for its policies, but its letter is not', async () => {
    await using world = await EngineTestWorld.open();
    const profile = await world.profile({}, [['X-Profile', 'p']]);
    await world.schedule({ profile });
    await started(world);
    await world.time.advance(4_999);
    const before = world.faults.asked.length;
    await world.time.advance(1);
    expect(world.egress.header('X-Profile')).toEqual(['p']);
    expect(world.faults.asked.slice(before).filter((verb) => verb !== 'listSweeps')).toEqual([
      'findWork',
      'claim',
      'listSecrets',
      'hasEndpointSecrets',
      'settle',
    ]);
  });

  test('one that could not be made ready is read then', async () => {
    await using world = await EngineTestWorld.open();
    const { pending } = await world.schedule();
    await started(world);
    world.faults.set('refuses', 'findMessages');
    await world.time.advance(4_990);
    world.faults.clear();
    await world.time.advance(10);
    expect(world.egress.sent.map(({ at }) => at)).toEqual([pending.scheduledFor]);
  });

  test('its gate counts as it is then, not as it was read', async () => {
    await using world = await EngineTestWorld.open();
    const breakerPolicy: BreakerPolicy = { threshold: 1, baseOpen: '10s', maxOpen: '1m', probeTimeout: '5s' };
    const profile = await world.profile({ breakerPolicy });
    const first = await world.schedule({ profile, inMs: 5_000 });
    const second = await world.schedule({ profile, inMs: 5_500 });
    world.egress.respond = () => BROKEN;
    await started(world);
    await world.time.advance(6_000);
    expect(world.egress.header('Sched-Delivery-Id')).toEqual([first.pending.id]);
    expect((await world.delivery(second.pending.id)).dueAt).toBe(first.pending.scheduledFor + 10_000);
  });
});

describe('what was changed after it was made ready', () => {
  test.for([
    ['canceled', cancel],
    ['paused', pause],
  ] as const)('is not sent when it was %s, hint or no hint', async ([, order]) => {
    await using world = await EngineTestWorld.open();
    const { schedule } = await world.schedule();
    await started(world);
    await world.time.advance(4_900);
    await world.change(schedule.id, (view) => order(view, world.now));
    await world.time.advance(10_000);
    expect(world.egress.sent).toEqual([]);
  });

  test('is sent as it is by then, in time, though no hint said so', async () => {
    await using world = await EngineTestWorld.open();
    const { schedule, pending } = await world.schedule();
    await started(world);
    await world.time.advance(4_900);
    const endpoint = 'https://example.com/hook?moved=1';
    await world.change(schedule.id, (view) => edit(view, { endpoint }, world.now));
    await world.time.advance(100);
    expect(world.egress.sent.map(({ request, at }) => [request.url.href, at])).toEqual([
      [endpoint, pending.scheduledFor],
    ]);
  });

  test('is sent at the new instant when it was moved', async () => {
    await using world = await EngineTestWorld.open();
    const { schedule, pending } = await world.schedule();
    const engine = await started(world);
    await world.time.advance(4_900);
    const timing = world.build.oneShot(700);
    await world.change(schedule.id, (view) => reschedule(view, timing, world.now));
    engine.due(requireDue(await world.delivery(pending.id)));
    await world.time.advance(5_000);
    expect(world.egress.sent.map(({ at }) => at - pending.scheduledFor)).toEqual([600]);
  });
});

describe('connections', () => {
  test('are asked for ahead, as many as there are requests to an origin at one moment', async () => {
    await using world = await EngineTestWorld.open();
    for (const path of ['a', 'b', 'c']) await world.schedule({ url: `https://example.com/${path}` });
    const { pending } = await world.schedule({ url: 'https://example.org/' });
    await started(world);
    await world.time.advance(4_000);
    expect(world.egress.warmed).toMatchObject([
      { origin: 'https://example.com', connections: 3 },
      { origin: 'https://example.org', connections: 1 },
    ]);
    expect(world.egress.warmed.every(({ at }) => at < pending.scheduledFor)).toBe(true);
  });

  test('are asked for once where a rate limit lets one through, and again for each turn it booked', async () => {
    await using world = await EngineTestWorld.open();
    for (let at = 0; at < 5; at++) await world.schedule({ rateLimit: { perSecond: 1 } });
    await world.schedule({ rateLimit: { perSecond: 1 }, url: 'https://example.com/another' });
    await started(world);
    await world.time.advance(4_999);
    expect(world.egress.warmed).toMatchObject([{ origin: 'https://example.com', connections: 2 }]);
    await world.time.advance(5_000);
    expect(world.egress.sent).toHaveLength(6);
    expect(Math.max(...world.egress.warmed.map(({ connections }) => connections))).toBe(2);
  });

  test('are bounded', async () => {
    await using world = await EngineTestWorld.open();
    for (let at = 0; at <= CONNECTIONS_MAX; at++) await world.schedule();
    await started(world);
    await world.time.advance(4_999);
    expect(world.egress.warmed.at(-1)?.connections).toBe(CONNECTIONS_MAX);
  });

  test('are not asked for where the breaker is open', async () => {
    await using world = await EngineTestWorld.open();
    const breakerPolicy: BreakerPolicy = { threshold: 1, baseOpen: '1m', maxOpen: '1m', probeTimeout: '5s' };
    const profile = await world.profile({ breakerPolicy });
    world.egress.respond = () => BROKEN;
    await world.schedule({ profile });
    await started(world);
    await world.time.advance(10_000);
    const asked = world.egress.warmed.length;
    await world.schedule({ profile });
    await world.time.advance(4_999);
    expect(world.egress.warmed).toHaveLength(asked);
  });
});

describe('making ready', () => {
  function aheadOf(world: EngineTestWorld, load: () => Load = () => 'calm'): Ahead {
    return new Ahead(world, EVERYWHERE, new Gates(world, EVERYWHERE), new RequestBuilder(world), load, ALONE);
  }

  test('waits while as much is being claimed as may be', async () => {
    await using world = await EngineTestWorld.open();
    const due = requireDue((await world.schedule()).pending);
    let load: Load = 'busy';
    const ahead = aheadOf(world, () => load);
    ahead.want(due);
    await world.time.advance(1_000);
    expect(world.faults.asked).toEqual([]);
    load = 'some';
    await world.time.advance(100);
    expect(ahead.take(due)?.work.delivery.id).toBe(due.id);
    expect(ahead.take(due)).toBeNull();
  });

  test('gives up what came due meanwhile: nobody waits for it', async () => {
    await using world = await EngineTestWorld.open();
    const ahead = aheadOf(world, () => 'busy');
    ahead.want(requireDue((await world.schedule()).pending));
    await world.time.advance(5_100);
    expect(world.time.pending).toBe(0);
  });

  test('keeps what waits for its endpoint while there is room: a burst may take seconds', async () => {
    await using world = await EngineTestWorld.open();
    const due = requireDue((await world.schedule({ inMs: 2_000 })).pending);
    const ahead = aheadOf(world);
    ahead.want(due);
    await world.time.advance(9_000);
    expect(ahead.take(due)?.work.delivery.id).toBe(due.id);
  });

  test('keeps nothing for long after its instant', async () => {
    await using world = await EngineTestWorld.open();
    const due = requireDue((await world.schedule({ inMs: 2_000 })).pending);
    const ahead = aheadOf(world);
    ahead.want(due);
    await world.time.advance(10_100);
    expect(ahead.take(due)).toBeNull();
    expect(world.time.pending).toBe(0);
  });

  test('keeps nothing longer when the clock is set back', async () => {
    await using world = await EngineTestWorld.open();
    const due = requireDue((await world.schedule()).pending);
    const ahead = aheadOf(world);
    ahead.want(due);
    await world.time.advance(10);
    world.time.setClock(-3_600_000);
    await world.time.advance(10_100);
    expect(ahead.take(due)).toBeNull();
    expect(world.time.pending).toBe(0);
  });

  test('reads no large payload: only the work of its delivery', async () => {
    await using world = await EngineTestWorld.open();
    const body = 'x'.repeat(SMALL_PAYLOAD_BYTES_MAX + 1);
    const due = requireDue((await world.schedule({ payload: { body } })).pending);
    const ahead = aheadOf(world);
    ahead.want(due);
    await world.time.advance(10);
    expect(ahead.take(due)).toMatchObject({ draft: null, work: { delivery: { id: due.id } } });
  });

  test('leaves room for other customers, however much one of them has', async () => {
    await using world = await EngineTestWorld.open();
    const findWork = async (dues: readonly Pick<Due, 'id'>[]) =>
      dues.map(({ id }) => ({ ...work, delivery: { ...work.delivery, id } }));
    const due = requireDue((await world.schedule({ payload: { body: 'x'.repeat(10_000) } })).pending);
    const [found] = await world.store.findWork([due]);
    if (found === null || found === undefined) throw new Error('There is work.');
    const work = found;
    const many = overridden(world, { store: overridden(world.store, { findWork }) });
    const ahead = new Ahead(
      many,
      EVERYWHERE,
      new Gates(many, EVERYWHERE),
      new RequestBuilder(many),
      () => 'calm',
      ALONE,
    );
    for (let n = 0; n < 6_000; n++) ahead.want({ ...due, id: `dlv_${n}` as DeliveryId });
    await world.time.advance(500);
    const isReady = (n: number) => ahead.take({ ...due, id: `dlv_${n}` as DeliveryId }) !== null;
    const ready = Array.from({ length: 6_000 }, (_, n) => isReady(n)).filter(Boolean).length;
    // Four fifths of 64 MiB, of which each takes 2 KiB more than its body.
    expect(ready * 12_300).toBeGreaterThan(50 * 1_048_576);
    expect(ready * 12_300).toBeLessThan(53 * 1_048_576);
  });

  test('takes what was moved for another', async () => {
    await using world = await EngineTestWorld.open();
    const due = requireDue((await world.schedule()).pending);
    const ahead = aheadOf(world);
    ahead.want(due);
    await world.time.advance(10);
    expect(ahead.take({ ...due, dueAt: instant(due.dueAt + 1) })).toBeNull();
  });

  test('counts for nothing in another epoch of its slot', async () => {
    await using world = await EngineTestWorld.open();
    const due = requireDue((await world.schedule()).pending);
    let epoch = 1;
    const territory = { ...EVERYWHERE, epochOf: () => epoch };
    const ahead = new Ahead(
      world,
      territory,
      new Gates(world, territory),
      new RequestBuilder(world),
      () => 'calm',
      ALONE,
    );
    ahead.want(due);
    await world.time.advance(10);
    epoch = 2;
    expect(ahead.take(due)).toBeNull();
  });

  test('holds its gate in memory until it is judged', async () => {
    await using world = await EngineTestWorld.open();
    const due = requireDue((await world.schedule()).pending);
    const gates = new Gates(world, EVERYWHERE);
    const ahead = new Ahead(world, EVERYWHERE, gates, new RequestBuilder(world), () => 'calm', ALONE);
    ahead.want(due);
    await world.time.advance(10);
    gates.attemptBegins(due);
    const policy: BreakerPolicy = { threshold: 9, baseOpen: '1s', maxOpen: '1s', probeTimeout: '1s' };
    gates.attemptEnds(due, policy, 'failure', null, world.now);
    await gates.save();
    const read = ahead.take(due)?.work.gate ?? null;
    expect(read).toBeNull();
    expect(gates.of(due, read).breaker.failures).toBe(1);
  });

  test('ends with the engine, and leaves no timer behind', async () => {
    await using world = await EngineTestWorld.open();
    const due = requireDue((await world.schedule()).pending);
    const ahead = aheadOf(world);
    ahead.want(due);
    await world.time.advance(10);
    ahead.stop();
    ahead.want(due);
    await world.time.advance(10);
    expect([ahead.take(due), world.time.pending]).toEqual([null, 0]);
  });
});
