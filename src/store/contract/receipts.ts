import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { instant } from '#src/domain/instant.ts';
import { editProfile } from '#src/domain/profile.ts';
import * as life from '#src/domain/schedule-life.ts';
import type { Receipt, Written } from '#src/ports/store.ts';
import * as arbitrary from './arbitraries.ts';
import { type Bench, pendingOf, type Suite } from './bench.ts';
import { DAY_MS, SUCCESS } from './builders.ts';

type Write = (receipt: Receipt) => Promise<Written>;

/** Every verb that keeps a receipt: each prepares what it will change, then writes it with a receipt. */
const VERBS: readonly (readonly [name: string, prepare: (bench: Bench) => Promise<Write>])[] = [
  [
    'addSchedule',
    async (bench) => {
      const made = bench.schedule({ metadata: [['a', 'b']] });
      const payload = Uint8Array.of(1, 2, 3);
      return (receipt) => bench.store.addSchedule({ ...made, payload, profile: null, receipt });
    },
  ],
  [
    'replaceSchedule',
    async (bench) => {
      const view = await bench.addSchedule();
      const changed = life.cancel(view, bench.tick());
      if (changed === null) throw new Error('An active schedule can be canceled.');
      return (receipt) => bench.store.replaceSchedule({ ...changed, receipt });
    },
  ],
  [
    'addReplay',
    async (bench) => {
      const finished = await bench.fire(pendingOf(await bench.addSchedule()), SUCCESS);
      const delivery = bench.replay(finished);
      return (receipt) => bench.store.addReplay({ delivery, receipt });
    },
  ],
  [
    'addProfile',
    async (bench) => {
      const profile = bench.profile();
      return (receipt) => bench.store.addProfile({ profile, headers: Uint8Array.of(9), receipt });
    },
  ],
  [
    'replaceProfile',
    async (bench) => {
      const profile = editProfile(await bench.addProfile(), { timeout: '3s' }, bench.tick());
      return (receipt) => bench.store.replaceProfile({ profile, headers: null, receipt });
    },
  ],
  ['addReceipt', async (bench) => (receipt) => bench.store.addReceipt(bench.partition, receipt)],
];

export function receiptsContract(suite: Suite): void {
  describe.for(VERBS)('the receipt of %s', ([, prepare]) => {
    test('is stored with the effect', async () => {
      const bench = await suite.bench();
      const write = await prepare(bench);
      const receipt = bench.receipt();
      const before = await bench.everything();
      expect(await write(receipt)).toBe('done');
      expect(await bench.store.findReceipt(bench.partition, receipt.key, bench.now)).toEqual(receipt);
      expect(await bench.everything()).not.toEqual(before);
    });

    test('under a key that is taken: key_taken, and no effect', async () => {
      const bench = await suite.bench();
      const write = await prepare(bench);
      const taken = bench.receipt();
      expect(await bench.store.addReceipt(bench.partition, taken)).toBe('done');
      const late = { ...taken, createdAt: instant(taken.expiresAt - 1), body: '"another"' };
      expect(await bench.changesNothing(() => write(late))).toBe('key_taken');
      expect(await bench.changesNothing(() => write({ ...late, fingerprint: 'another' }))).toBe('key_taken');
    });

    test('replaces one that has expired', async () => {
      const bench = await suite.bench();
      const write = await prepare(bench);
      const expired = bench.receipt();
      expect(await bench.store.addReceipt(bench.partition, expired)).toBe('done');
      const fresh: Receipt = {
        key: expired.key,
        fingerprint: 'fresh',
        status: 200,
        body: '{"fresh":true}',
        createdAt: expired.expiresAt,
        expiresAt: instant(expired.expiresAt + DAY_MS),
      };
      expect(await write(fresh)).toBe('done');
      expect(await bench.store.findReceipt(bench.partition, fresh.key, fresh.createdAt)).toEqual(fresh);
    });

    test('under one key from many at once: one has its effect', async () => {
      const bench = await suite.bench();
      const writes = [];
      for (let i = 0; i < 5; i++) writes.push(await prepare(bench));
      const { key } = bench.receipt();
      const receipts = writes.map((_, index) => ({ ...bench.receipt(), key, body: String(index) }));
      const answers = await Promise.all(
        writes.map((write, index) => write(receipts[index] ?? bench.receipt())),
      );
      expect(answers.toSorted()).toEqual(['done', 'key_taken', 'key_taken', 'key_taken', 'key_taken']);
      const kept = await bench.store.findReceipt(bench.partition, key, bench.now);
      expect(kept).toEqual(receipts[answers.indexOf('done')]);
    });
  });

  describe('a receipt', () => {
    test('is read back field for field, under any key a header can carry', async () => {
      const bench = await suite.bench();
      await fc.assert(
        fc.asyncProperty(
          fc.uniqueArray(fc.tuple(arbitrary.latin1, arbitrary.receiptContents), {
            minLength: 1,
            maxLength: 10,
            selector: ([key]) => key,
          }),
          fc.uuid(),
          async (cases, run) => {
            const receipts = cases.map(([key, contents]) =>
              bench.receipt({ ...contents, key: `${run}${key}` }),
            );
            await Promise.all(
              receipts.map(async (receipt) => {
                expect(await bench.store.addReceipt(bench.partition, receipt)).toBe('done');
                expect(await bench.store.findReceipt(bench.partition, receipt.key, bench.now)).toEqual(
                  receipt,
                );
              }),
            );
          },
        ),
        { numRuns: 30, seed: 5 },
      );
    });

    test('tells keys apart by every character and its case', async () => {
      const bench = await suite.bench();
      for (const key of ['key', 'Key', 'key ', ' key', 'kéy', 'ke\u0301y', 'key%', 'k_y']) {
        expect(await bench.store.addReceipt(bench.partition, bench.receipt({ key }))).toBe('done');
      }
    });

    test('is there until it expires, and gone from that instant on', async () => {
      const bench = await suite.bench();
      const receipt = bench.receipt();
      await bench.store.addReceipt(bench.partition, receipt);
      const at = (now: number) => bench.store.findReceipt(bench.partition, receipt.key, instant(now));
      expect(await at(receipt.createdAt)).toEqual(receipt);
      expect(await at(receipt.expiresAt - 1)).toEqual(receipt);
      expect(await at(receipt.expiresAt)).toBeNull();
    });

    test('belongs to its partition', async () => {
      const bench = await suite.bench();
      const receipt = bench.receipt();
      await bench.store.addReceipt(bench.partition, receipt);
      expect(await bench.store.findReceipt(bench.neighbour, receipt.key, bench.now)).toBeNull();
      const same = { ...receipt, body: '"live"' };
      expect(await bench.store.addReceipt(bench.neighbour, same)).toBe('done');
      expect(await bench.store.findReceipt(bench.partition, receipt.key, bench.now)).toEqual(receipt);
    });
  });
}
