import { expect, test } from 'vitest';
import { Pauses } from '#src/commands/pauses.ts';
import { Refusal } from '#src/domain/errors.ts';
import { CONCURRENT_MAX, ConcurrencyLimit, WAITING_MAX } from './concurrency-limit.ts';

/** Turns, and what is done when everything else had its turn. */
function openTurns() {
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
  return { turns: new ConcurrencyLimit(new Pauses({ after, elapsed: () => 0 })), pass };
}

/** Work that is told when it ends. */
function held() {
  let end = () => {};
  const done = new Promise<void>((resolve) => (end = resolve));
  return { end, work: () => done };
}

function settled(): Promise<void> {
  return new Promise((resolve) => void setImmediate(resolve));
}

test('of one person a few are answered at a time, the next after everything else had its turn', async () => {
  const { turns, pass } = openTurns();
  const first = held();
  const begun: string[] = [];
  const all = Array.from({ length: CONCURRENT_MAX }, () => turns.run('ada', first.work));
  const next = turns.run('ada', async () => void begun.push('next of ada'));
  await turns.run('bob', async () => void begun.push('bob'));
  first.end();
  await Promise.all(all);
  expect(begun).toEqual(['bob']);
  await pass();
  await next;
  expect(begun).toEqual(['bob', 'next of ada']);
});

test('more than can wait are turned away, and nobody else with them', async () => {
  const { turns, pass } = openTurns();
  const first = held();
  const taken = Array.from({ length: CONCURRENT_MAX + WAITING_MAX }, () => turns.run('ada', first.work));
  await expect(turns.run('ada', first.work)).rejects.toEqual(new Refusal('unavailable'));
  await expect(turns.run('bob', async () => 'answered')).resolves.toBe('answered');
  first.end();
  await settled();
  await pass();
  await Promise.all(taken);
  await pass();
  await expect(turns.run('ada', async () => 'answered')).resolves.toBe('answered');
});

test('what is answered at once counts until everything else had its turn', async () => {
  const { turns, pass } = openTurns();
  const begun: number[] = [];
  for (let asked = 0; asked < CONCURRENT_MAX; asked++)
    await turns.run('ada', async () => void begun.push(asked));
  const next = turns.run('ada', async () => void begun.push(CONCURRENT_MAX));
  await settled();
  expect(begun).toHaveLength(CONCURRENT_MAX);
  await pass();
  await next;
  expect(begun).toHaveLength(CONCURRENT_MAX + 1);
});

test('what fails gives its turn on', async () => {
  const { turns, pass } = openTurns();
  for (let attempts = 0; attempts <= CONCURRENT_MAX; attempts++) {
    const failing = turns.run('ada', () => Promise.reject(new Error('no')));
    await expect(failing).rejects.toThrow('no');
    await pass();
  }
});
