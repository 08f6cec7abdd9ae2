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

function dueTo(endpoint: string, name = endpoint): DueDelivery {
  return dueAt(0, { name, endpoint: endpoint as EndpointKey });
}

/** An attempt to the endpoint of `due` begins and ends with this evidence. */
function endAttempt(gates: Gates, harness: EngineHarness, evidence: 'success' | 'failure', due = DUE) {
  gates.beginAttempt(due);
  return gates.endAttempt(due, POLICY, evidence, null, harness.now);
}

function fail(gates: Gates, harness: EngineHarness, times: number, due = DUE): void {
  for (let each = 0; each < times; each++) endAttempt(gates, harness, 'failure', due);
}

/** Returns the gate as it is stored. */
async function stored(harness: EngineHarness): Promise<Gate | null> {
  const { pending } = await harness.schedule({ url: URL });
  const [work] = await harness.disk.loadDeliveries([requireDue(pending)]);
  return work?.gate ?? null;
}

describe('the gate of an endpoint', () => {
  test('is open when nothing is stored, and then nothing is kept in memory', async () => {
    await using harness = await EngineHarness.open();
    const gates = new Gates(harness, OWNS_EVERY_SLOT);
    expect(gates.get(DUE, null)).toBe(NEW_GATE);
    gates.set(DUE, NEW_GATE);
    expect(endAttempt(gates, harness, 'success')).toEqual([]);
    await harness.time.advance(10_000);
    expect(harness.faults.times('saveGates')).toBe(0);
    expect(harness.time.pending).toBe(0);
  });

  test('is the one in memory, which is newer than the one that was loaded with a delivery', async () => {
    await using harness = await EngineHarness.open();
    const gates = new Gates(harness, OWNS_EVERY_SLOT);
    fail(gates, harness, 2);
    expect(gates.get(DUE, NEW_GATE).breaker.openUntil).toBe(harness.now + 30_000);
  });

  test('belongs to one partition and endpoint', async () => {
    await using harness = await EngineHarness.open();
    const gates = new Gates(harness, OWNS_EVERY_SLOT);
    fail(gates, harness, 2);
    expect(gates.get(dueTo('https://example.org/'), null)).toBe(NEW_GATE);
    expect(gates.get({ ...DUE, partition: 2 as Partition }, null)).toBe(NEW_GATE);
    expect(gates.countBreakers(harness.now)).toEqual({ open: 1, halfOpen: 0 });
  });

  test('is counted by the state of its breaker', async () => {
    await using harness = await EngineHarness.open();
    const gates = new Gates(harness, OWNS_EVERY_SLOT);
    fail(gates, harness, 2, dueTo('a'));
    fail(gates, harness, 1, dueTo('b'));
    await harness.time.advance(10_000);
    fail(gates, harness, 2, dueTo('c'));
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
    endAttempt(gates, harness, 'success');
    await harness.time.advance(0);
    expect(await stored(harness)).toBeNull();
  });

  test('a second after any other change, together with all other changes', async () => {
    await using harness = await EngineHarness.open();
    const gates = new Gates(harness, OWNS_EVERY_SLOT);
    fail(gates, harness, 1);
    fail(gates, harness, 1, dueTo('b'));
    await harness.time.advance(999);
    expect(harness.faults.times('saveGates')).toBe(0);
    await harness.time.advance(1);
    expect(harness.faults.times('saveGates')).toBe(1);
    expect((await stored(harness))?.breaker.failures).toBe(1);
    await harness.time.advance(60_000);
    expect(harness.faults.times('saveGates')).toBe(1);
  });

  test('at once when a breaker opens, also when a save is planned for later', async () => {
    await using harness = await EngineHarness.open();
    const gates = new Gates(harness, OWNS_EVERY_SLOT);
    fail(gates, harness, 1);
    await harness.time.advance(100);
    fail(gates, harness, 1);
    await harness.time.advance(0);
    expect((await stored(harness))?.breaker.openUntil).toBe(harness.now + 30_000);
  });

  test('right after the save in progress when a breaker opens meanwhile', async () => {
    await using harness = await EngineHarness.open();
    const gates = new Gates(harness, OWNS_EVERY_SLOT);
    harness.faults.before('saveGates', () => {
      if (harness.faults.times('saveGates') === 1) fail(gates, harness, 1);
    });
    fail(gates, harness, 1);
    await harness.time.advance(1_000);
    expect((await stored(harness))?.breaker).toMatchObject({ failures: 2, openUntil: harness.now + 30_000 });
  });

  test('again when they changed while they were being saved', async () => {
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

  test('in batches of 200', async () => {
    await using harness = await EngineHarness.open();
    const gates = new Gates(harness, OWNS_EVERY_SLOT);
    for (let endpoint = 0; endpoint < 450; endpoint++) fail(gates, harness, 1, dueTo(`e-${endpoint}`));
    await gates.save();
    expect(harness.faults.times('saveGates')).toBe(3);
    await gates.save();
    expect(harness.faults.times('saveGates')).toBe(3);
  });

  test('in the background no more after a stop', async () => {
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
  test('a breaker continues with the same window', async () => {
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

  test('failures before it count', async () => {
    await using harness = await EngineHarness.open();
    fail(new Gates(harness, OWNS_EVERY_SLOT), harness, 1);
    await harness.time.advance(1_000);
    const after = new Gates(harness, OWNS_EVERY_SLOT);
    after.get(DUE, await stored(harness));
    endAttempt(after, harness, 'failure');
    expect(after.countBreakers(harness.now)).toEqual({ open: 1, halfOpen: 0 });
  });

  test('a gate that was loaded is not saved before it changes', async () => {
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

describe('in memory', () => {
  test('a gate that decides as a new one is removed, also from the store', async () => {
    await using harness = await EngineHarness.open();
    const gates = new Gates(harness, OWNS_EVERY_SLOT);
    fail(gates, harness, 1);
    await harness.time.advance(1_000);
    endAttempt(gates, harness, 'success');
    await harness.time.advance(1_000);
    expect(await stored(harness)).toBeNull();
    const read: Gate = { ...NEW_GATE, breaker: { ...NEW_GATE.breaker, failures: 1 } };
    expect(gates.get(DUE, read)).toBe(read);
  });

  test('a gate that is being read is kept, because the state that is read may be older', async () => {
    await using harness = await EngineHarness.open();
    const gates = new Gates(harness, OWNS_EVERY_SLOT);
    fail(gates, harness, 1);
    await harness.time.advance(1_000);
    const older = await stored(harness);
    gates.pin([DUE]);
    endAttempt(gates, harness, 'success');
    await harness.time.advance(5_000);
    expect(gates.get(DUE, older).breaker.failures).toBe(0);
    gates.unpin([DUE]);
    // A gate that is no longer read is evicted as usual.
    fail(gates, harness, 1);
    endAttempt(gates, harness, 'success');
    await harness.time.advance(5_000);
    expect(gates.get(DUE, older)).toBe(older);
  });

  test('there are at most 20,000 gates that are not in use: those changed last', async () => {
    await using harness = await EngineHarness.open();
    const gates = new Gates(harness, OWNS_EVERY_SLOT);
    for (let endpoint = 0; endpoint < 20_100; endpoint++) fail(gates, harness, 2, dueTo(`e-${endpoint}`));
    endAttempt(gates, harness, 'success', dueTo('e-0'));
    fail(gates, harness, 2, dueTo('e-0'));
    await harness.time.advance(1_000);
    expect(gates.countBreakers(harness.now).open).toBe(20_000);
    const isKept = (endpoint: number) => gates.get(dueTo(`e-${endpoint}`), null) !== NEW_GATE;
    expect([0, 1, 100, 101].map(isKept)).toEqual([true, false, false, true]);
  });

  test('there are at most 20,000 gates that were only loaded', async () => {
    await using harness = await EngineHarness.open();
    const gates = new Gates(harness, OWNS_EVERY_SLOT);
    const openUntil = instant(harness.now + 30_000);
    const read: Gate = {
      ...NEW_GATE,
      breaker: { failures: 2, openUntil, windowMs: 30_000, probeUntil: null },
    };
    for (let endpoint = 0; endpoint < 20_100; endpoint++) gates.get(dueTo(`e-${endpoint}`), read);
    await harness.time.advance(5_000);
    expect(gates.countBreakers(harness.now).open).toBeLessThanOrEqual(20_000);
  });

  test('a gate that was evicted does not come back with its former state', async () => {
    await using harness = await EngineHarness.open();
    fail(new Gates(harness, OWNS_EVERY_SLOT), harness, 1);
    await harness.time.advance(1_000);
    const gates = new Gates(harness, OWNS_EVERY_SLOT);
    const read = await stored(harness);
    const [quick, slow] = [dueTo(URL, 'quick'), dueTo(URL, 'slow')];
    gates.get(quick, read);
    gates.get(slow, read);
    endAttempt(gates, harness, 'success', quick);
    await harness.time.advance(5_000);
    endAttempt(gates, harness, 'failure', slow);
    expect(gates.get(slow, null).breaker).toMatchObject({ failures: 1, openUntil: null });
  });
});

describe('deliveries that an open breaker deferred', () => {
  test('are released when it closes, once', async () => {
    await using harness = await EngineHarness.open();
    const gates = new Gates(harness, OWNS_EVERY_SLOT);
    fail(gates, harness, 2);
    const deferred = [dueTo(URL, 'a'), dueTo(URL, 'b')];
    for (const due of deferred) gates.rememberDeferred(due);
    expect(endAttempt(gates, harness, 'failure')).toEqual([]);
    expect(endAttempt(gates, harness, 'success')).toEqual(deferred);
    expect(endAttempt(gates, harness, 'success')).toEqual([]);
  });

  test('are those of its endpoint only', async () => {
    await using harness = await EngineHarness.open();
    const gates = new Gates(harness, OWNS_EVERY_SLOT);
    for (const endpoint of ['a', 'b']) {
      fail(gates, harness, 2, dueTo(endpoint));
      gates.rememberDeferred(dueTo(endpoint));
    }
    expect(endAttempt(gates, harness, 'success', dueTo('b'))).toEqual([dueTo('b')]);
  });

  test('keep their gate in memory', async () => {
    await using harness = await EngineHarness.open();
    const gates = new Gates(harness, OWNS_EVERY_SLOT);
    for (let endpoint = 0; endpoint < 20_100; endpoint++) {
      fail(gates, harness, 2, dueTo(`e-${endpoint}`));
      if (endpoint === 0) gates.rememberDeferred(dueTo('e-0', 'deferred'));
    }
    await harness.time.advance(1_000);
    expect(endAttempt(gates, harness, 'success', dueTo('e-0'))).toHaveLength(1);
  });
});

describe('a delivery that was deferred', () => {
  test('is not remembered when the breaker has closed meanwhile', async () => {
    await using harness = await EngineHarness.open();
    const gates = new Gates(harness, OWNS_EVERY_SLOT);
    fail(gates, harness, 2);
    expect(gates.rememberDeferred(dueTo(URL, 'a'))).toBe(true);
    endAttempt(gates, harness, 'success');
    expect(gates.rememberDeferred(dueTo(URL, 'b'))).toBe(false);
  });
});

describe('tokens taken at a gate', () => {
  const LIMITED = { breaker: POLICY, budget: { rate: 1, burst: 1 }, rateLimit: { perSecond: 1 } };

  /** Takes the next token for a delivery. Returns how long it has to wait. */
  async function takeToken(gates: Gates, harness: EngineHarness, name: string) {
    const { pending } = await harness.schedule({ url: URL });
    const due = dueTo(URL, name);
    const before = gates.get(due, null);
    const admission = admit(before, LIMITED, pending, harness.now);
    if (admission.kind === 'never') throw new Error('A token always comes.');
    expect(gates.recordDecision(due, before, admission.gate)).toBe(true);
    return { due, waitMs: admission.kind === 'wait' ? admission.until - harness.now : 0 };
  }

  test('are returned when none of them was used', async () => {
    await using harness = await EngineHarness.open();
    const gates = new Gates(harness, OWNS_EVERY_SLOT);
    const tokens = [];
    for (const name of ['a', 'b', 'c']) tokens.push(await takeToken(gates, harness, name));
    expect(tokens.map(({ waitMs }) => waitMs)).toEqual([0, 1_000, 2_000]);
    for (const { due } of tokens) gates.settleToken(due, false);
    expect((await takeToken(gates, harness, 'd')).waitMs).toBe(0);
  });

  test('are not returned when one of them was used, so that no token is reserved twice', async () => {
    await using harness = await EngineHarness.open();
    const gates = new Gates(harness, OWNS_EVERY_SLOT);
    const first = await takeToken(gates, harness, 'a');
    const second = await takeToken(gates, harness, 'b');
    gates.settleToken(first.due, false);
    expect((await takeToken(gates, harness, 'c')).waitMs).toBe(2_000);
    gates.settleToken(second.due, true);
    gates.settleToken(dueTo(URL, 'c'), false);
    expect((await takeToken(gates, harness, 'd')).waitMs).toBe(3_000);
  });

  test('can be returned without a change of the breaker', async () => {
    await using harness = await EngineHarness.open();
    const gates = new Gates(harness, OWNS_EVERY_SLOT);
    const { due } = await takeToken(gates, harness, 'a');
    fail(gates, harness, 2, dueTo(URL));
    gates.settleToken(due, false);
    expect(gates.countBreakers(harness.now).open).toBe(1);
  });

  test('are saved at once, without other gates', async () => {
    await using harness = await EngineHarness.open();
    const gates = new Gates(harness, OWNS_EVERY_SLOT);
    fail(gates, harness, 1, dueTo('https://example.com/other'));
    const { due } = await takeToken(gates, harness, 'a');
    await gates.saveTokens([due]);
    expect((await stored(harness))?.rateLimiters['1']?.freeAt).toBe(harness.now + 1_000);
    expect(harness.faults.times('saveGates')).toBe(1);
  });
});
