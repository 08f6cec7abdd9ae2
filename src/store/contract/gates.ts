import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Delivery } from '#src/domain/delivery.ts';
import { endpointKeyOf } from '#src/domain/endpoint-key.ts';
import { type Gate, OPEN_GATE } from '#src/domain/gate.ts';
import * as arbitrary from './arbitraries.ts';
import { type Bench, pendingOf, type Suite } from './bench.ts';

export function gatesContract(suite: Suite): void {
  describe('a gate', () => {
    test('is given back as it was saved last, to the last digit', async () => {
      const bench = await suite.bench();
      const { endpoint, delivery } = await waiting(bench, 'https://example.com/a');
      for (const gate of fc.sample(arbitrary.gate, { numRuns: 60, seed: 21 })) {
        await bench.store.saveGates([bench.gate(endpoint, { gate })]);
        expect(await gateOf(bench, delivery)).toEqual(gate);
      }
      const gate: Gate = {
        ...OPEN_GATE,
        budget: { terms: { rate: 0.1 + 0.2, burst: 1e-7 }, tokens: -1 / 3, at: bench.now },
        paces: { '0.5': { freeAt: bench.now + 1 / 7, at: bench.now } },
      };
      await bench.store.saveGates([bench.gate(endpoint, { gate })]);
      expect(await gateOf(bench, delivery)).toEqual(gate);
    });

    test('belongs to every delivery of its endpoint, in its partition', async () => {
      const bench = await suite.bench();
      const { endpoint, delivery } = await waiting(bench, 'https://example.com/a?first');
      const same = await waiting(bench, 'https://example.com/a?second');
      const other = await waiting(bench, 'https://example.com/A');
      const made = bench.schedule({
        partition: bench.neighbour,
        destination: destination('https://example.com/a'),
      });
      await bench.store.addSchedule({ ...made, payload: null, profile: null, receipt: null });
      const saved = bench.gate(endpoint);
      await bench.store.saveGates([saved]);
      expect(await gateOf(bench, delivery)).toEqual(saved.gate);
      expect(await gateOf(bench, same.delivery)).toEqual(saved.gate);
      expect(await gateOf(bench, other.delivery)).toBeNull();
      expect(await gateOf(bench, made.pending)).toBeNull();
      const together = await bench.store.loadDeliveries([
        delivery,
        made.pending,
        other.delivery,
        same.delivery,
      ]);
      expect(together.map((work) => work?.gate)).toEqual([saved.gate, null, null, saved.gate]);
    });

    test('of a profile is that of the profile, whatever its URL', async () => {
      const bench = await suite.bench();
      const profile = await bench.addProfile();
      const addition = bench.scheduleOn(profile);
      await bench.store.addSchedule(addition);
      const inline = await waiting(bench, profile.url);
      const saved = bench.gate(endpointKeyOf(addition.pending.target));
      await bench.store.saveGates([saved]);
      expect(await gateOf(bench, addition.pending)).toEqual(saved.gate);
      expect(await gateOf(bench, inline.delivery)).toBeNull();
    });

    test('is saved, replaced and removed, many in one call', async () => {
      const bench = await suite.bench();
      const [a, b, c] = [
        await waiting(bench, 'https://example.com/a'),
        await waiting(bench, 'https://example.com/b'),
        await waiting(bench, `https://example.com/${'c'.repeat(8_000)}`),
      ];
      const gates = async () =>
        (await bench.store.loadDeliveries([a, b, c].map(({ delivery }) => delivery))).map(
          (work) => work?.gate ?? null,
        );
      const [first, second] = [bench.gate(a.endpoint), bench.gate(b.endpoint, { gate: OPEN_GATE })];
      await bench.store.saveGates([first, second, bench.gate(c.endpoint, { gate: null })]);
      expect(await gates()).toEqual([first.gate, OPEN_GATE, null]);
      const removed = bench.gate(a.endpoint, { gate: null });
      await bench.store.saveGates([removed, bench.gate(b.endpoint), bench.gate(c.endpoint)]);
      expect(await gates()).toEqual([null, first.gate, first.gate]);
      await bench.changesNothing(() => bench.store.saveGates([]));
      await bench.changesNothing(() => bench.store.saveGates([removed]));
    });

    test('outlives the process', async () => {
      const bench = await suite.bench();
      const { endpoint, delivery } = await waiting(bench, 'https://example.com/a');
      const saved = bench.gate(endpoint);
      await bench.store.saveGates([saved]);
      await bench.reopen();
      expect(await gateOf(bench, delivery)).toEqual(saved.gate);
    });
  });
}

function destination(url: string) {
  return { kind: 'inline', url, method: 'POST' } as const;
}

async function waiting(bench: Bench, url: string) {
  const delivery = pendingOf(await bench.addSchedule({ destination: destination(url) }));
  return { delivery, endpoint: endpointKeyOf(delivery.target) };
}

async function gateOf(bench: Bench, delivery: Delivery): Promise<Gate | null> {
  return (await bench.work(delivery)).gate;
}
