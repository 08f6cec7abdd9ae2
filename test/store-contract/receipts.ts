import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { editProfile } from '#src/domain/endpoint-profile.ts';
import { instant } from '#src/domain/instant.ts';
import * as life from '#src/domain/schedule-lifecycle.ts';
import type { Receipt, WriteOutcome } from '#src/ports/store.ts';
import * as arbitrary from './arbitraries.ts';
import { DAY_MS, SUCCESS } from './builders.ts';
import { type Fixture, pendingOf, type Suite } from './fixture.ts';

type Write = (receipt: Receipt) => Promise<WriteOutcome>;

/** Every verb that stores a receipt. Each prepares what it will change, and then writes it with a receipt. */
const VERBS: readonly (readonly [name: string, prepare: (fixture: Fixture) => Promise<Write>])[] = [
  [
    'addSchedule',
    async (fixture) => {
      const made = fixture.schedule({ metadata: [['a', 'b']] });
      const payload = Uint8Array.of(1, 2, 3);
      return (receipt) => fixture.store.addSchedule({ ...made, payload, profile: null, receipt });
    },
  ],
  [
    'replaceSchedule',
    async (fixture) => {
      const view = await fixture.addSchedule();
      const changed = life.cancel(view, fixture.tick());
      if (changed === null) throw new Error('The schedule cannot be canceled.');
      return (receipt) => fixture.store.replaceSchedule({ ...changed, receipt });
    },
  ],
  [
    'addReplay',
    async (fixture) => {
      const finished = await fixture.fire(pendingOf(await fixture.addSchedule()), SUCCESS);
      const delivery = fixture.replay(finished);
      return (receipt) => fixture.store.addReplay({ delivery, receipt });
    },
  ],
  [
    'addProfile',
    async (fixture) => {
      const profile = fixture.profile();
      return (receipt) => fixture.store.addProfile({ profile, headers: Uint8Array.of(9), receipt });
    },
  ],
  [
    'replaceProfile',
    async (fixture) => {
      const profile = editProfile(await fixture.addProfile(), { timeout: '3s' }, fixture.tick());
      return (receipt) => fixture.store.replaceProfile({ profile, headers: null, receipt });
    },
  ],
  ['addReceipt', async (fixture) => (receipt) => fixture.store.addReceipt(fixture.partition, receipt)],
];

export function receiptsContract(suite: Suite): void {
  describe.for(VERBS)('the receipt of %s', ([, prepare]) => {
    test('is stored with the effect', async () => {
      const fixture = await suite.fixture();
      const write = await prepare(fixture);
      const receipt = fixture.receipt();
      const before = await fixture.everything();
      expect(await write(receipt)).toBe('done');
      expect(await fixture.store.findReceipt(fixture.partition, receipt.key, fixture.now)).toEqual(receipt);
      expect(await fixture.everything()).not.toEqual(before);
    });

    test('under a taken key answers key_taken and has no effect', async () => {
      const fixture = await suite.fixture();
      const write = await prepare(fixture);
      const taken = fixture.receipt();
      expect(await fixture.store.addReceipt(fixture.partition, taken)).toBe('done');
      const late = { ...taken, createdAt: instant(taken.expiresAt - 1), body: '"another"' };
      expect(await fixture.changesNothing(() => write(late))).toBe('key_taken');
      expect(await fixture.changesNothing(() => write({ ...late, fingerprint: 'another' }))).toBe(
        'key_taken',
      );
    });

    test('replaces an expired one', async () => {
      const fixture = await suite.fixture();
      const write = await prepare(fixture);
      const expired = fixture.receipt();
      expect(await fixture.store.addReceipt(fixture.partition, expired)).toBe('done');
      const fresh: Receipt = {
        key: expired.key,
        fingerprint: 'fresh',
        status: 200,
        body: '{"fresh":true}',
        createdAt: expired.expiresAt,
        expiresAt: instant(expired.expiresAt + DAY_MS),
      };
      expect(await write(fresh)).toBe('done');
      expect(await fixture.store.findReceipt(fixture.partition, fresh.key, fresh.createdAt)).toEqual(fresh);
    });

    test('under one key from many at the same time: one has an effect', async () => {
      const fixture = await suite.fixture();
      const writes = [];
      for (let i = 0; i < 5; i++) writes.push(await prepare(fixture));
      const { key } = fixture.receipt();
      const receipts = writes.map((_, index) => ({ ...fixture.receipt(), key, body: String(index) }));
      const answers = await Promise.all(
        writes.map((write, index) => write(receipts[index] ?? fixture.receipt())),
      );
      expect(answers.toSorted()).toEqual(['done', 'key_taken', 'key_taken', 'key_taken', 'key_taken']);
      const kept = await fixture.store.findReceipt(fixture.partition, key, fixture.now);
      expect(kept).toEqual(receipts[answers.indexOf('done')]);
    });
  });

  describe('a receipt', () => {
    test('is read back with every field, under every key that a header can carry', async () => {
      const fixture = await suite.fixture();
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
              fixture.receipt({ ...contents, key: `${run}${key}` }),
            );
            await Promise.all(
              receipts.map(async (receipt) => {
                expect(await fixture.store.addReceipt(fixture.partition, receipt)).toBe('done');
                expect(await fixture.store.findReceipt(fixture.partition, receipt.key, fixture.now)).toEqual(
                  receipt,
                );
              }),
            );
          },
        ),
        { numRuns: 30, seed: 5 },
      );
    });

    test('distinguishes keys by every character and its case', async () => {
      const fixture = await suite.fixture();
      for (const key of ['key', 'Key', 'key ', ' key', 'kéy', 'ke\u0301y', 'key%', 'k_y']) {
        expect(await fixture.store.addReceipt(fixture.partition, fixture.receipt({ key }))).toBe('done');
      }
    });

    test('exists until it expires', async () => {
      const fixture = await suite.fixture();
      const receipt = fixture.receipt();
      await fixture.store.addReceipt(fixture.partition, receipt);
      const at = (now: number) => fixture.store.findReceipt(fixture.partition, receipt.key, instant(now));
      expect(await at(receipt.createdAt)).toEqual(receipt);
      expect(await at(receipt.expiresAt - 1)).toEqual(receipt);
      expect(await at(receipt.expiresAt)).toBeNull();
    });

    test('belongs to its partition', async () => {
      const fixture = await suite.fixture();
      const receipt = fixture.receipt();
      await fixture.store.addReceipt(fixture.partition, receipt);
      expect(await fixture.store.findReceipt(fixture.neighbour, receipt.key, fixture.now)).toBeNull();
      const same = { ...receipt, body: '"live"' };
      expect(await fixture.store.addReceipt(fixture.neighbour, same)).toBe('done');
      expect(await fixture.store.findReceipt(fixture.partition, receipt.key, fixture.now)).toEqual(receipt);
    });
  });
}
