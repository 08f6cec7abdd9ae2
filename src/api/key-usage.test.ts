import { expect, test } from 'vitest';
import { instant } from '#src/domain/instant.ts';
import type { KeyUse } from '#src/ports/control-store.ts';
import { KeyUsage } from './key-usage.ts';

/** A store that finishes its writes when the test says so. */
class FakeStore {
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
  const store = new FakeStore();
  const usage = new KeyUsage(store);
  for (const ms of [0, 900, 59_999]) usage.record('a', at(ms));
  await store.settle();
  usage.record('a', at(60_000));
  await store.settle();
  expect(store.calls).toEqual([[{ hash: 'a', at: at(0) }], [{ hash: 'a', at: at(60_000) }]]);
});

test('keys that are used during a write are written together afterwards', async () => {
  const store = new FakeStore();
  const usage = new KeyUsage(store);
  for (const hash of ['a', 'b', 'c', 'b']) usage.record(hash, at(0));
  await store.settle();
  await store.settle();
  expect(store.calls.map((call) => call.map(({ hash }) => hash))).toEqual([['a'], ['b', 'c']]);
});

test('after a failed write the next use of the key is written', async () => {
  const store = new FakeStore();
  const usage = new KeyUsage(store);
  store.isFailing = true;
  usage.record('a', at(0));
  await store.settle();
  store.isFailing = false;
  usage.record('a', at(1));
  await store.settle();
  expect(store.calls).toEqual([[{ hash: 'a', at: at(0) }], [{ hash: 'a', at: at(1) }]]);
});

test('a use is written even if the clock was set back', async () => {
  const store = new FakeStore();
  const usage = new KeyUsage(store);
  usage.record('a', at(0));
  await store.settle();
  usage.record('a', at(-5));
  await store.settle();
  expect(store.calls).toHaveLength(2);
});

test('the number of waiting uses is limited', async () => {
  const store = new FakeStore();
  const usage = new KeyUsage(store);
  for (let i = 0; i < 30_000; i++) usage.record(`key ${i}`, at(0));
  while (store.calls.length < 25) {
    const before = store.calls.length;
    await store.settle();
    if (store.calls.length === before) break;
  }
  expect(store.calls.every((call) => call.length <= 500)).toBe(true);
  expect(store.calls.flat().length).toBe(10_001);
});
