import { describe, expect, test } from 'vitest';
import type { DueDelivery } from '#src/domain/due-delivery.ts';
import type { EndpointKey } from '#src/domain/endpoint-key.ts';
import type { BreakerPolicy } from '#src/domain/endpoint-profile.ts';
import { admit, type Gate, NEW_GATE } from '#src/domain/gate.ts';
import { instant } from '#src/domain/instant.ts';
import type { Partition } from '#src/domain/project.ts';
import { OWNS_EVERY_SLOT } from '#src/engine/cluster/slot-ownership.ts';
import { dueAt, EngineHarness, requireDue } from '#test/engine-harness.ts';
import { Gates } from './gates.ts';

const POLICY: BreakerPolicy = { threshold: 2, baseOpen: '30s', maxOpen: '1h', probeTimeout: '10s' };
const URL = 'https://example.com/hook';
const DUE = dueAt(0, { name: 'first' });

function towards(endpoint: string, name = endpoint): DueDelivery {
  return dueAt(0, { name, endpoint: endpoint as EndpointKey });
}

/** An attempt towards the endpoint of `due` ended so. */
function learn(gates: Gates, harness: EngineHarness, evidence: 'success' | 'failure', due = DUE) {
  gates.beginAttempt(due);
  return gates.endAttempt(due, POLICY, evidence, null, harness.now);
}

function fail(gates: Gates, harness: EngineHarness, times: number, due = DUE): void {
  for (let each = 0; each < times; each++) learn(gates, harness, 'failure', due);
}

/** The gate of the endpoint as it is stored, read as the dispatcher does. */
async function stored(harness: EngineHarness): Promise<Gate | null> {
  const { pending } = await harness.schedule({ url: URL });
  const [work] = await harness.disk.loadDeliveries([requireDue(pending)]);
  return work?.gate ?? null;
}

describe('the gate of an endpoint', () => {
  test('is open where nothing is known, and then nothing is kept', async () => {
    await using harness = await EngineHarness.open();
    const gates = new Gates(harness, OWNS_EVERY_SLOT);
    expect(gates.get(DUE, null)).toBe(NEW_GATE);
    gates.set(DUE, NEW_GATE);
    expect(learn(gates, harness, 'success')).toEqual([]);
    await harness.time.advance(10_000);
    expect(harness.faults.times('saveGates')).toBe(0);
    expect(harness.time.pending).toBe(0);
  });

  test('is that of memory, which is newer than what was read with the delivery', async () => {
    await using harness = await EngineHarness.open();
    const gates = new Gates(harness, OWNS_EVERY_SLOT);
    fail(gates, harness, 2);
    expect(gates.get(DUE, NEW_GATE).breaker.openUntil).toBe(harness.now + 30_000);
  });

  test('is one for each partition and endpoint', async () => {
    await using harness = await EngineHarness.open();
    const gates = new Gates(harness, OWNS_EVERY_SLOT);
    fail(gates, harness, 2);
    expect(gates.get(towards('https://example.org/'), null)).toBe(NEW_GATE);
    expect(gates.get({ ...DUE, partition: 2 as Partition }, null)).toBe(NEW_GATE);
    expect(gates.countBreakers(harness.now)).toEqual({ open: 1, halfOpen: 0 });
  });

  test('counts among the breakers by its state', async () => {
    await using harness = await EngineHarness.open();
    const gates = new Gates(harness, OWNS_EVERY_SLOT);
    fail(gates, harness, 2, towards('a'));
    fail(gates, harness, 1, towards('b'));
    await harness.time.advance(10_000);
    fail(gates, harness, 2, towards('c'));
    expect(gates.countBreakers(harness.now)).toEqual({ open: 2, halfOpen: 0 });
    await harness.time.advance(20_000);
    expect(gates.countBreakers(harness.now)).toEqual({ open: 1, halfOpen: 1 });
  });
});

describe('gates are saved', () => {
  test('at once when a breaker opens, and at once when it closes', async () => {
    await using harness = await EngineHarness.open();
    const gates = new Gates(harness, OWNS_EVERY_SLOT);
    fail(gates, harness, 2);
    await harness.time.advance(0);
    expect((await stored(harness))?.breaker.openUntil).toBe(harness.now + 30_000);
    learn(gates, harness, 'success');
    await harness.time.advance(0);
    expect(await stored(harness)).toBeNull();
  });

  test('a second after any other change, and then all changes at once', async () => {
    await using harness = await EngineHarness.open();
    const gates = new Gates(harness, OWNS_EVERY_SLOT);
    fail(gates, harness, 1);
    fail(gates, harness, 1, towards('b'));
    await harness.time.advance(999);
    expect(harness.faults.times('saveGates')).toBe(0);
    await harness.time.advance(1);
    expect(harness.faults.times('saveGates')).toBe(1);
    expect((await stored(harness))?.breaker.failures).toBe(1);
    await harness.time.advance(60_000);
    expect(harness.faults.times('saveGates')).toBe(1);
  });

  test('at once also when a second has begun already', async () => {
    await using harness = await EngineHarness.open();
    const gates = new Gates(harness, OWNS_EVERY_SLOT);
    fail(gates, harness, 1);
    await harness.time.advance(100);
    fail(gates, harness, 1);
    await harness.time.advance(0);
    expect((await stored(harness))?.breaker.openUntil).toBe(harness.now + 30_000);
  });

  test('with what changed while they were being saved', async () => {
    await using harness = await EngineHarness.open();
    const gates = new Gates(harness, OWNS_EVERY_SLOT);
    const patient = { ...POLICY, threshold: 100 };
    const failed = () => gates.endAttempt(DUE, patient, 'failure', null, harness.now);
    harness.faults.before('saveGates', failed);
    failed();
    await harness.time.advance(1_000);
    expect((await stored(harness))?.breaker.failures).toBe(1);
    await harness.time.advance(1_000);
    expect((await stored(harness))?.breaker.failures).toBe(2);
  });

  test('again and again until the store is back', async () => {
    await using harness = await EngineHarness.open();
    const gates = new Gates(harness, OWNS_EVERY_SLOT);
    harness.faults.set('refuses', 'saveGates');
    fail(gates, harness, 2);
    const openUntil = instant(harness.now + 30_000);
    await harness.time.advance(5_000);
    expect(harness.log.lines.every(({ level }) => level === 'warn')).toBe(true);
    harness.faults.clear();
    await harness.time.advance(1_000);
    expect((await stored(harness))?.breaker.openUntil).toBe(openUntil);
    await harness.time.advance(60_000);
    expect(harness.time.pending).toBe(0);
  });

  test('in parts, however many there are', async () => {
    await using harness = await EngineHarness.open();
    const gates = new Gates(harness, OWNS_EVERY_SLOT);
    for (let endpoint = 0; endpoint < 450; endpoint++) fail(gates, harness, 1, towards(`e-${endpoint}`));
    await gates.save();
    expect(harness.faults.times('saveGates')).toBe(3);
    await gates.save();
    expect(harness.faults.times('saveGates')).toBe(3);
  });

  test('no more after a stop, but by hand', async () => {
    await using harness = await EngineHarness.open();
    const gates = new Gates(harness, OWNS_EVERY_SLOT);
    fail(gates, harness, 1);
    gates.stop();
    expect(harness.time.pending).toBe(0);
    await gates.save();
    expect((await stored(harness))?.breaker.failures).toBe(1);
  });
});

describe('after a restart', () => {
  test('a breaker goes on from where it was: open as long, its window doubled as often', async () => {
    await using harness = await EngineHarness.open();
    const before = new Gates(harness, OWNS_EVERY_SLOT);
    fail(before, harness, 2);
    await harness.time.advance(30_000);
    const { openUntil } = before.get(DUE, null).breaker;
    before.endAttempt(DUE, POLICY, 'failure', openUntil, harness.now);
    await harness.time.advance(0);

    const after = new Gates(harness, OWNS_EVERY_SLOT);
    const gate = after.get(DUE, await stored(harness));
    expect(gate.breaker).toMatchObject({ openUntil: harness.now + 60_000, windowMs: 60_000 });
    expect(after.countBreakers(harness.now)).toEqual({ open: 1, halfOpen: 0 });
  });

  test('failures in a row count over it', async () => {
    await using harness = await EngineHarness.open();
    fail(new Gates(harness, OWNS_EVERY_SLOT), harness, 1);
    await harness.time.advance(1_000);
    const after = new Gates(harness, OWNS_EVERY_SLOT);
    after.get(DUE, await stored(harness));
    learn(after, harness, 'failure');
    expect(after.countBreakers(harness.now)).toEqual({ open: 1, halfOpen: 0 });
  });

  test('what is read is not saved again before it changes', async () => {
    await using harness = await EngineHarness.open();
    fail(new Gates(harness, OWNS_EVERY_SLOT), harness, 1);
    await harness.time.advance(1_000);
    const after = new Gates(harness, OWNS_EVERY_SLOT);
    after.get(DUE, await stored(harness));
    const saves = harness.faults.times('saveGates');
    await after.save();
    expect(harness.faults.times('saveGates')).toBe(saves);
  });
});

describe('memory', () => {
  test('one that says nothing any more is forgotten, here and in the store', async () => {
    await using harness = await EngineHarness.open();
    const gates = new Gates(harness, OWNS_EVERY_SLOT);
    fail(gates, harness, 1);
    await harness.time.advance(1_000);
    learn(gates, harness, 'success');
    await harness.time.advance(1_000);
    expect(await stored(harness)).toBeNull();
    const read: Gate = { ...NEW_GATE, breaker: { ...NEW_GATE.breaker, failures: 1 } };
    expect(gates.get(DUE, read)).toBe(read);
  });

  test('while it is being read it is kept: what is answered may be older than what was forgotten', async () => {
    await using harness = await EngineHarness.open();
    const gates = new Gates(harness, OWNS_EVERY_SLOT);
    fail(gates, harness, 1);
    await harness.time.advance(1_000);
    const older = await stored(harness);
    gates.pin([DUE]);
    learn(gates, harness, 'success');
    await harness.time.advance(5_000);
    expect(gates.get(DUE, older).breaker.failures).toBe(0);
    gates.unpin([DUE]);
    // Once nobody reads it any more it is forgotten as usual.
    fail(gates, harness, 1);
    learn(gates, harness, 'success');
    await harness.time.advance(5_000);
    expect(gates.get(DUE, older)).toBe(older);
  });

  test('holds 20,000 gates at most, those used last; the others are read again', async () => {
    await using harness = await EngineHarness.open();
    const gates = new Gates(harness, OWNS_EVERY_SLOT);
    for (let endpoint = 0; endpoint < 20_100; endpoint++) fail(gates, harness, 2, towards(`e-${endpoint}`));
    learn(gates, harness, 'success', towards('e-0'));
    fail(gates, harness, 2, towards('e-0'));
    await harness.time.advance(1_000);
    expect(gates.countBreakers(harness.now).open).toBe(20_000);
    const isKept = (endpoint: number) => gates.get(towards(`e-${endpoint}`), null) !== NEW_GATE;
    expect([0, 1, 100, 101].map(isKept)).toEqual([true, false, false, true]);
  });

  test('holds 20,000 gates at most, also of those that are only read', async () => {
    await using harness = await EngineHarness.open();
    const gates = new Gates(harness, OWNS_EVERY_SLOT);
    const openUntil = instant(harness.now + 30_000);
    const read: Gate = {
      ...NEW_GATE,
      breaker: { failures: 2, openUntil, windowMs: 30_000, probeUntil: null },
    };
    for (let endpoint = 0; endpoint < 20_100; endpoint++) gates.get(towards(`e-${endpoint}`), read);
    await harness.time.advance(5_000);
    expect(gates.countBreakers(harness.now).open).toBeLessThanOrEqual(20_000);
  });

  test('a gate that was forgotten does not come back as it was before', async () => {
    await using harness = await EngineHarness.open();
    fail(new Gates(harness, OWNS_EVERY_SLOT), harness, 1);
    await harness.time.advance(1_000);
    const gates = new Gates(harness, OWNS_EVERY_SLOT);
    const read = await stored(harness);
    const [quick, slow] = [towards(URL, 'quick'), towards(URL, 'slow')];
    gates.get(quick, read);
    gates.get(slow, read);
    learn(gates, harness, 'success', quick);
    await harness.time.advance(5_000);
    learn(gates, harness, 'failure', slow);
    expect(gates.get(slow, null).breaker).toMatchObject({ failures: 1, openUntil: null });
  });
});

describe('deliveries that an open breaker deferred', () => {
  test('are freed when it closes, once', async () => {
    await using harness = await EngineHarness.open();
    const gates = new Gates(harness, OWNS_EVERY_SLOT);
    fail(gates, harness, 2);
    const held = [towards(URL, 'a'), towards(URL, 'b')];
    for (const due of held) gates.rememberDeferred(due);
    expect(learn(gates, harness, 'failure')).toEqual([]);
    expect(learn(gates, harness, 'success')).toEqual(held);
    expect(learn(gates, harness, 'success')).toEqual([]);
  });

  test('are those of that endpoint only', async () => {
    await using harness = await EngineHarness.open();
    const gates = new Gates(harness, OWNS_EVERY_SLOT);
    for (const endpoint of ['a', 'b']) {
      fail(gates, harness, 2, towards(endpoint));
      gates.rememberDeferred(towards(endpoint));
    }
    expect(learn(gates, harness, 'success', towards('b'))).toEqual([towards('b')]);
  });

  test('are remembered up to 1,000 for each endpoint and 16,000 for one customer of 20,000 in all', async () => {
    await using harness = await EngineHarness.open();
    const gates = new Gates(harness, OWNS_EVERY_SLOT);
    for (let endpoint = 0; endpoint < 21; endpoint++) {
      fail(gates, harness, 2, towards(`e-${endpoint}`));
      for (let each = 0; each < 1_001; each++)
        gates.rememberDeferred(towards(`e-${endpoint}`, `${endpoint}-${each}`));
    }
    const other = { ...towards('e-0'), partition: 2 as Partition };
    fail(gates, harness, 2, other);
    gates.rememberDeferred(other);
    expect(learn(gates, harness, 'success', other)).toEqual([other]);
    expect(learn(gates, harness, 'success', towards('e-0'))).toHaveLength(1_000);
    expect(learn(gates, harness, 'success', towards('e-20'))).toHaveLength(0);
    gates.rememberDeferred(towards('e-1', 'no room of its own'));
    fail(gates, harness, 2, towards('e-20'));
    gates.rememberDeferred(towards('e-20'));
    expect(learn(gates, harness, 'success', towards('e-20'))).toHaveLength(1);
  });

  test('keep their gate in memory, however quiet it is', async () => {
    await using harness = await EngineHarness.open();
    const gates = new Gates(harness, OWNS_EVERY_SLOT);
    for (let endpoint = 0; endpoint < 20_100; endpoint++) {
      fail(gates, harness, 2, towards(`e-${endpoint}`));
      if (endpoint === 0) gates.rememberDeferred(towards('e-0', 'held'));
    }
    await harness.time.advance(1_000);
    expect(learn(gates, harness, 'success', towards('e-0'))).toHaveLength(1);
  });

  test('take one place each, however often they are deferred', async () => {
    await using harness = await EngineHarness.open();
    const gates = new Gates(harness, OWNS_EVERY_SLOT);
    fail(gates, harness, 2);
    for (let times = 0; times < 1_000; times++) gates.rememberDeferred(towards(URL, 'patient'));
    gates.rememberDeferred(towards(URL, 'other'));
    expect(learn(gates, harness, 'success').map(({ id }) => id)).toEqual(['dlv_patient', 'dlv_other']);
  });
});

describe('a delivery that was deferred', () => {
  test('is not deferred by a breaker that has closed meanwhile', async () => {
    await using harness = await EngineHarness.open();
    const gates = new Gates(harness, OWNS_EVERY_SLOT);
    fail(gates, harness, 2);
    expect(gates.rememberDeferred(towards(URL, 'a'))).toBe(true);
    learn(gates, harness, 'success');
    expect(gates.rememberDeferred(towards(URL, 'b'))).toBe(false);
  });

  test('is let go when it is looked at again, and then neither freed nor in the way', async () => {
    await using harness = await EngineHarness.open();
    const gates = new Gates(harness, OWNS_EVERY_SLOT);
    fail(gates, harness, 2);
    for (let each = 0; each < 1_000; each++) gates.rememberDeferred(towards(URL, `${each}`));
    gates.forgetDeferred(towards(URL, '7'));
    gates.rememberDeferred(towards(URL, 'next'));
    const freed = learn(gates, harness, 'success').map(({ id }) => id);
    expect(freed).toHaveLength(1_000);
    expect(freed).toContain('dlv_next');
    expect(freed).not.toContain('dlv_7');
  });
});

describe('turns taken at a gate', () => {
  const LIMITED = { breaker: POLICY, budget: { rate: 1, burst: 1 }, rateLimit: { perSecond: 1 } };

  /** Takes the next turn for a delivery; answers when it may go. */
  async function takeTurn(gates: Gates, harness: EngineHarness, name: string) {
    const { pending } = await harness.schedule({ url: URL });
    const due = towards(URL, name);
    const before = gates.get(due, null);
    const admission = admit(before, LIMITED, pending, harness.now);
    if (admission.kind === 'never') throw new Error('There is always a turn.');
    expect(gates.recordDecision(due, before, admission.gate)).toBe(true);
    return { due, waitMs: admission.kind === 'wait' ? admission.until - harness.now : 0 };
  }

  test('are given back when none of them was used', async () => {
    await using harness = await EngineHarness.open();
    const gates = new Gates(harness, OWNS_EVERY_SLOT);
    const turns = [];
    for (const name of ['a', 'b', 'c']) turns.push(await takeTurn(gates, harness, name));
    expect(turns.map(({ waitMs }) => waitMs)).toEqual([0, 1_000, 2_000]);
    for (const { due } of turns) gates.settleToken(due, false);
    expect((await takeTurn(gates, harness, 'd')).waitMs).toBe(0);
  });

  test('are all kept when one of them was used: no turn is reserved twice', async () => {
    await using harness = await EngineHarness.open();
    const gates = new Gates(harness, OWNS_EVERY_SLOT);
    const first = await takeTurn(gates, harness, 'a');
    const second = await takeTurn(gates, harness, 'b');
    gates.settleToken(first.due, false);
    expect((await takeTurn(gates, harness, 'c')).waitMs).toBe(2_000);
    gates.settleToken(second.due, true);
    gates.settleToken(towards(URL, 'c'), false);
    expect((await takeTurn(gates, harness, 'd')).waitMs).toBe(3_000);
  });

  test('leave the breaker as it has become meanwhile', async () => {
    await using harness = await EngineHarness.open();
    const gates = new Gates(harness, OWNS_EVERY_SLOT);
    const { due } = await takeTurn(gates, harness, 'a');
    fail(gates, harness, 2, towards(URL));
    gates.settleToken(due, false);
    expect(gates.countBreakers(harness.now).open).toBe(1);
  });

  test('are saved at once, and alone', async () => {
    await using harness = await EngineHarness.open();
    const gates = new Gates(harness, OWNS_EVERY_SLOT);
    fail(gates, harness, 1, towards('https://example.com/other'));
    const { due } = await takeTurn(gates, harness, 'a');
    await gates.saveTokens([due]);
    expect((await stored(harness))?.paces['1']?.freeAt).toBe(harness.now + 1_000);
    expect(harness.faults.times('saveGates')).toBe(1);
  });
});
