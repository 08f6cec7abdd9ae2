import { expect, test } from 'vitest';
import { Pauses } from '#src/commands/pauses.ts';
import { Refusal } from '#src/domain/errors.ts';
import { CONCURRENT_MAX, ConcurrencyLimit, WAITING_MAX } from './concurrency-limit.ts';

/** A limit with pauses that the test ends. */
function openLimit() {
  const later: (() => void)[] = [];
  const after = (_ms: number, act: () => void) => {
    later.push(act);
    return () => {};
  };
  const pass = async () => {
    for (let acts = later.splice(0); acts.length > 0; acts = later.splice(0)) {
      for (const act of acts) act();
      await settled();
    }
  };
  return { limit: new ConcurrencyLimit(new Pauses({ after, elapsed: () => 0 })), pass };
}

/** Work that ends when the test says so. */
function held() {
  let end = () => {};
  const done = new Promise<void>((resolve) => (end = resolve));
  return { end, work: () => done };
}

function settled(): Promise<void> {
  return new Promise((resolve) => void setImmediate(resolve));
}

test('a few requests of one user run at a time, and the next begins after a pause', async () => {
  const { limit, pass } = openLimit();
  const first = held();
  const begun: string[] = [];
  const all = Array.from({ length: CONCURRENT_MAX }, () => limit.run('ada', first.work));
  const next = limit.run('ada', async () => void begun.push('next of ada'));
  await limit.run('bob', async () => void begun.push('bob'));
  first.end();
  await Promise.all(all);
  expect(begun).toEqual(['bob']);
  await pass();
  await next;
  expect(begun).toEqual(['bob', 'next of ada']);
});

test('requests beyond the queue are refused, and other users are not affected', async () => {
  const { limit, pass } = openLimit();
  const first = held();
  const taken = Array.from({ length: CONCURRENT_MAX + WAITING_MAX }, () => limit.run('ada', first.work));
  await expect(limit.run('ada', first.work)).rejects.toEqual(new Refusal('unavailable'));
  await expect(limit.run('bob', async () => 'answered')).resolves.toBe('answered');
  first.end();
  await settled();
  await pass();
  await Promise.all(taken);
  await pass();
  await expect(limit.run('ada', async () => 'answered')).resolves.toBe('answered');
});

test('a request that ends at once counts until the pause after it', async () => {
  const { limit, pass } = openLimit();
  const begun: number[] = [];
  for (let count = 0; count < CONCURRENT_MAX; count++)
    await limit.run('ada', async () => void begun.push(count));
  const next = limit.run('ada', async () => void begun.push(CONCURRENT_MAX));
  await settled();
  expect(begun).toHaveLength(CONCURRENT_MAX);
  await pass();
  await next;
  expect(begun).toHaveLength(CONCURRENT_MAX + 1);
});

test('a request that fails lets the next one run', async () => {
  const { limit, pass } = openLimit();
  for (let count = 0; count <= CONCURRENT_MAX; count++) {
    const failing = limit.run('ada', () => Promise.reject(new Error('no')));
    await expect(failing).rejects.toThrow('no');
    await pass();
  }
});
