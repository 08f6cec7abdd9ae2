import { expect, test } from 'vitest';
import { instant } from '#src/domain/instant.ts';
import type { KeyUse } from '#src/ports/control-store.ts';
import { KeyUses } from './key-uses.ts';

/** Writes when it is told to, or fails. */
class Ledger {
  readonly calls: (readonly KeyUse[])[] = [];
  #settle: (() => void)[] = [];
  isFailing = false;

  touchKeys(uses: readonly KeyUse[]): Promise<void> {
    this.calls.push(uses);
    return new Promise((resolve, reject) => {
      this.#settle.push(() => (this.isFailing ? reject(new Error('full')) : resolve()));
    });
  }

  async settle(): Promise<void> {
    for (const settle of this.#settle.splice(0)) settle();
    await new Promise(setImmediate);
  }
}

const at = (ms: number) => instant(1_000_000 + ms);

test('a key is written once a minute, however often it is used', async () => {
  const ledger = new Ledger();
  const uses = new KeyUses(ledger);
  for (const ms of [0, 900, 59_999]) uses.note('a', at(ms));
  await ledger.settle();
  uses.note('a', at(60_000));
  await ledger.settle();
  expect(ledger.calls).toEqual([[{ hash: 'a', at: at(0) }], [{ hash: 'a', at: at(60_000) }]]);
});

test('keys that are used while a write is under way are written together', async () => {
  const ledger = new Ledger();
  const uses = new KeyUses(ledger);
  for (const hash of ['a', 'b', 'c', 'b']) uses.note(hash, at(0));
  await ledger.settle();
  await ledger.settle();
  expect(ledger.calls.map((call) => call.map(({ hash }) => hash))).toEqual([['a'], ['b', 'c']]);
});

test('a use that could not be written is written with the next one', async () => {
  const ledger = new Ledger();
  const uses = new KeyUses(ledger);
  ledger.isFailing = true;
  uses.note('a', at(0));
  await ledger.settle();
  ledger.isFailing = false;
  uses.note('a', at(1));
  await ledger.settle();
  expect(ledger.calls).toEqual([[{ hash: 'a', at: at(0) }], [{ hash: 'a', at: at(1) }]]);
});

test('a clock that was set back does not keep a use from being written', async () => {
  const ledger = new Ledger();
  const uses = new KeyUses(ledger);
  uses.note('a', at(0));
  await ledger.settle();
  uses.note('a', at(-5));
  await ledger.settle();
  expect(ledger.calls).toHaveLength(2);
});

test('what waits is bounded', async () => {
  const ledger = new Ledger();
  const uses = new KeyUses(ledger);
  for (let i = 0; i < 30_000; i++) uses.note(`key ${i}`, at(0));
  while (ledger.calls.length < 25) {
    const before = ledger.calls.length;
    await ledger.settle();
    if (ledger.calls.length === before) break;
  }
  expect(ledger.calls.every((call) => call.length <= 500)).toBe(true);
  expect(ledger.calls.flat().length).toBe(10_001);
});
