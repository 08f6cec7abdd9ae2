import { expect, test } from 'vitest';
import type { Partition } from '#src/domain/project.ts';
import { StoreUnavailable } from '#src/ports/store.ts';
import { SCANS_MAX, ScanLimiter, WAITING_PER_CUSTOMER_MAX } from './scan-limiter.ts';

function partition(number: number): Partition {
  return number as Partition;
}

/** Scans that record when they begin, and end when the test says so. */
class Scans {
  readonly limiter = new ScanLimiter();
  readonly begun: string[] = [];
  readonly #ends = new Map<string, PromiseWithResolvers<void>>();

  start(customer: number, name: string): Promise<void> {
    return this.limiter.run(partition(customer), () => {
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

  /** Lets pending promises run. */
  async settle(): Promise<void> {
    for (let tick = 0; tick < 5; tick++) await Promise.resolve();
  }
}

test('a customer has one scan at a time, and the others wait in order', async () => {
  const scans = new Scans();
  for (const name of ['a1', 'a2', 'a3']) void scans.start(1, name);
  await scans.settle();
  expect(scans.begun).toEqual(['a1']);
  expect(scans.begun).toHaveLength(1);
  await scans.end('a1');
  expect(scans.begun).toEqual(['a1', 'a2']);
  await scans.end('a2');
  expect(scans.begun).toEqual(['a1', 'a2', 'a3']);
});

test('a customer with many scans does not delay another customer', async () => {
  const scans = new Scans();
  for (let n = 0; n < 50; n++) void scans.start(1, `a${n}`);
  void scans.start(2, 'b');
  await scans.settle();
  expect(scans.begun).toEqual(['a0', 'b']);
});

test('when the limit is reached, customers are served round robin', async () => {
  const scans = new Scans();
  for (let customer = 1; customer <= SCANS_MAX + 2; customer++) {
    for (let n = 0; n < 3; n++) void scans.start(customer, `${customer}.${n}`);
  }
  await scans.settle();
  expect(scans.begun).toHaveLength(SCANS_MAX);
  const before = scans.begun.length;
  await scans.end('1.0');
  await scans.end('2.0');
  expect(scans.begun.slice(before), 'customers without a scan go first').toEqual(['7.0', '8.0']);
  await scans.end('3.0');
  expect(scans.begun.at(-1), 'then the customer that has waited longest').toBe('1.1');
});

test('a scan that fails frees its permit', async () => {
  const limiter = new ScanLimiter();
  for (let n = 0; n < 3 * SCANS_MAX; n++) {
    await expect(limiter.run(partition(1), () => Promise.reject(new Error('broken')))).rejects.toThrow(
      'broken',
    );
  }
  expect(await limiter.run(partition(1), async () => 'answered')).toBe('answered');
});

test('a customer with too many waiting scans is refused, and other customers are not', async () => {
  const scans = new Scans();
  for (let n = 0; n < 1 + WAITING_PER_CUSTOMER_MAX; n++) void scans.start(1, `a${n}`);
  await expect(scans.start(1, 'one more')).rejects.toThrow(StoreUnavailable);
  void scans.start(2, 'b');
  await scans.settle();
  expect(scans.begun).toContain('b');
});
