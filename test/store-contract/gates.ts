import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Delivery } from '#src/domain/delivery.ts';
import { endpointKeyOf } from '#src/domain/endpoint-key.ts';
import { type Gate, NEW_GATE } from '#src/domain/gate.ts';
import * as arbitrary from './arbitraries.ts';
import { type Fixture, pendingOf, type Suite } from './fixture.ts';

export function gatesContract(suite: Suite): void {
  describe('a gate', () => {
    test('is returned as it was saved last, with every digit', async () => {
      const fixture = await suite.fixture();
      const { endpoint, delivery } = await waiting(fixture, 'https://example.com/a');
      for (const gate of fc.sample(arbitrary.gate, { numRuns: 60, seed: 21 })) {
        await fixture.store.saveGates([fixture.gate(endpoint, { gate })]);
        expect(await gateOf(fixture, delivery)).toEqual(gate);
      }
      const gate: Gate = {
        ...NEW_GATE,
        budget: { terms: { rate: 0.1 + 0.2, burst: 1e-7 }, tokens: -1 / 3, at: fixture.now },
        rateLimiters: { '0.5': { freeAt: fixture.now + 1 / 7, at: fixture.now } },
      };
      await fixture.store.saveGates([fixture.gate(endpoint, { gate })]);
      expect(await gateOf(fixture, delivery)).toEqual(gate);
    });

    test('belongs to every delivery of its endpoint, in its partition', async () => {
      const fixture = await suite.fixture();
      const { endpoint, delivery } = await waiting(fixture, 'https://example.com/a?first');
      const same = await waiting(fixture, 'https://example.com/a?second');
      const other = await waiting(fixture, 'https://example.com/A');
      const made = fixture.schedule({
        partition: fixture.neighbour,
        destination: destination('https://example.com/a'),
      });
      await fixture.store.addSchedule({ ...made, payload: null, profile: null, receipt: null });
      const saved = fixture.gate(endpoint);
      await fixture.store.saveGates([saved]);
      expect(await gateOf(fixture, delivery)).toEqual(saved.gate);
      expect(await gateOf(fixture, same.delivery)).toEqual(saved.gate);
      expect(await gateOf(fixture, other.delivery)).toBeNull();
      expect(await gateOf(fixture, made.pending)).toBeNull();
      const together = await fixture.store.loadDeliveries([
        delivery,
        made.pending,
        other.delivery,
        same.delivery,
      ]);
      expect(together.map((work) => work?.gate)).toEqual([saved.gate, null, null, saved.gate]);
    });

    test('of a profile belongs to the profile, whatever its URL is', async () => {
      const fixture = await suite.fixture();
      const profile = await fixture.addProfile();
      const addition = fixture.scheduleOn(profile);
      await fixture.store.addSchedule(addition);
      const inline = await waiting(fixture, profile.url);
      const saved = fixture.gate(endpointKeyOf(addition.pending.target));
      await fixture.store.saveGates([saved]);
      expect(await gateOf(fixture, addition.pending)).toEqual(saved.gate);
      expect(await gateOf(fixture, inline.delivery)).toBeNull();
    });

    test('is saved, replaced and removed, many in one call', async () => {
      const fixture = await suite.fixture();
      const [a, b, c] = [
        await waiting(fixture, 'https://example.com/a'),
        await waiting(fixture, 'https://example.com/b'),
        await waiting(fixture, `https://example.com/${'c'.repeat(8_000)}`),
      ];
      const gates = async () =>
        (await fixture.store.loadDeliveries([a, b, c].map(({ delivery }) => delivery))).map(
          (work) => work?.gate ?? null,
        );
      const [first, second] = [fixture.gate(a.endpoint), fixture.gate(b.endpoint, { gate: NEW_GATE })];
      await fixture.store.saveGates([first, second, fixture.gate(c.endpoint, { gate: null })]);
      expect(await gates()).toEqual([first.gate, NEW_GATE, null]);
      const removed = fixture.gate(a.endpoint, { gate: null });
      await fixture.store.saveGates([removed, fixture.gate(b.endpoint), fixture.gate(c.endpoint)]);
      expect(await gates()).toEqual([null, first.gate, first.gate]);
      await fixture.changesNothing(() => fixture.store.saveGates([]));
      await fixture.changesNothing(() => fixture.store.saveGates([removed]));
    });

    test('is there after reopening', async () => {
      const fixture = await suite.fixture();
      const { endpoint, delivery } = await waiting(fixture, 'https://example.com/a');
      const saved = fixture.gate(endpoint);
      await fixture.store.saveGates([saved]);
      await fixture.reopen();
      expect(await gateOf(fixture, delivery)).toEqual(saved.gate);
    });
  });
}

function destination(url: string) {
  return { kind: 'inline', url, method: 'POST' } as const;
}

async function waiting(fixture: Fixture, url: string) {
  const delivery = pendingOf(await fixture.addSchedule({ destination: destination(url) }));
  return { delivery, endpoint: endpointKeyOf(delivery.target) };
}

async function gateOf(fixture: Fixture, delivery: Delivery): Promise<Gate | null> {
  return (await fixture.load(delivery)).gate;
}
