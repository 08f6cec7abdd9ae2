import { expect, test } from 'vitest';
import type { Partition } from '#src/domain/project.ts';
import { StoreUnavailable } from '#src/ports/store.ts';
import { SCANS_MAX, ScanLimiter, WAITING_PER_CUSTOMER_MAX } from './scan-limiter.ts';

function partition(number: number): Partition {
  return number as Partition;
}

/** Walks that say when they begin, and end when they are told to. */
class Walks {
  readonly turns = new ScanLimiter();
  readonly begun: string[] = [];
  readonly #ends = new Map<string, PromiseWithResolvers<void>>();

  ask(customer: number, name: string): Promise<void> {
    return this.turns.run(partition(customer), () => {
      this.begun.push(name);
      const end = Promise.withResolvers<void>();
      this.#ends.set(name, end);
      return end.promise;
    });
  }

  async end(name: string): Promise<void> {
    this.#ends.get(name)?.resolve();
    await this.settle();
  }

  /** Whoever was told goes on. */
  async settle(): Promise<void> {
    for (let turn = 0; turn < 5; turn++) await Promise.resolve();
  }
}

test('a customer has one walk at a time, and the others wait in their order', async () => {
  const walks = new Walks();
  for (const name of ['a1', 'a2', 'a3']) void walks.ask(1, name);
  await walks.settle();
  expect(walks.begun).toEqual(['a1']);
  expect(walks.begun).toHaveLength(1);
  await walks.end('a1');
  expect(walks.begun).toEqual(['a1', 'a2']);
  await walks.end('a2');
  expect(walks.begun).toEqual(['a1', 'a2', 'a3']);
});

test('one who asks for many holds up no other one', async () => {
  const walks = new Walks();
  for (let n = 0; n < 50; n++) void walks.ask(1, `a${n}`);
  void walks.ask(2, 'b');
  await walks.settle();
  expect(walks.begun).toEqual(['a0', 'b']);
});

test('where all places are taken, customers take turns', async () => {
  const walks = new Walks();
  for (let customer = 1; customer <= SCANS_MAX + 2; customer++) {
    for (let n = 0; n < 3; n++) void walks.ask(customer, `${customer}.${n}`);
  }
  await walks.settle();
  expect(walks.begun).toHaveLength(SCANS_MAX);
  const before = walks.begun.length;
  await walks.end('1.0');
  await walks.end('2.0');
  expect(walks.begun.slice(before), 'who had none goes first').toEqual(['7.0', '8.0']);
  await walks.end('3.0');
  expect(walks.begun.at(-1), 'then whoever has waited longest').toBe('1.1');
});

test('a walk that fails gives its turn back', async () => {
  const turns = new ScanLimiter();
  for (let n = 0; n < 3 * SCANS_MAX; n++) {
    await expect(turns.run(partition(1), () => Promise.reject(new Error('broken')))).rejects.toThrow(
      'broken',
    );
  }
  expect(await turns.run(partition(1), async () => 'answered')).toBe('answered');
});

test('no more wait than there is room for, and others still have theirs', async () => {
  const walks = new Walks();
  for (let n = 0; n < 1 + WAITING_PER_CUSTOMER_MAX; n++) void walks.ask(1, `a${n}`);
  await expect(walks.ask(1, 'one more')).rejects.toThrow(StoreUnavailable);
  void walks.ask(2, 'b');
  await walks.settle();
  expect(walks.begun).toContain('b');
});
