import { describe, expect, test } from 'vitest';
import { StoreUnavailable, type WriteOutcome } from '#src/ports/store.ts';
import {
  CONFLICTS_MAX,
  IdempotencyKeyTaken,
  KeyedMutex,
  requireFound,
  retryUntilWritten,
} from './command.ts';

const FINISHED = { status: 200, body: '{}' };

/** A write that returns the given results one after the other, and then `stale`. */
function writing(...answers: readonly WriteOutcome[]) {
  const attempts = { count: 0 };
  const attempt = async () => {
    const written = answers[attempts.count] ?? 'stale';
    attempts.count += 1;
    return { written, answer: { ...FINISHED, body: `attempt ${attempts.count}` } };
  };
  return { attempts, attempt };
}

describe('a write', () => {
  test('that succeeds is made once', async () => {
    const { attempts, attempt } = writing('done');
    expect(await retryUntilWritten(attempt)).toEqual({ ...FINISHED, body: 'attempt 1' });
    expect(attempts.count).toBe(1);
  });

  test('is repeated after conflicts, and the answer is that of the write that succeeded', async () => {
    const { attempts, attempt } = writing('stale', 'stale', 'stale', 'done');
    expect(await retryUntilWritten(attempt)).toEqual({ ...FINISHED, body: 'attempt 4' });
    expect(attempts.count).toBe(4);
  });

  test('fails after too many conflicts', async () => {
    const { attempts, attempt } = writing();
    await expect(retryUntilWritten(attempt)).rejects.toThrow(StoreUnavailable);
    expect(attempts.count).toBe(CONFLICTS_MAX);
  });

  test('ends when another request took the key', async () => {
    const { attempts, attempt } = writing('stale', 'key_taken', 'done');
    await expect(retryUntilWritten(attempt)).rejects.toThrow(IdempotencyKeyTaken);
    expect(attempts.count).toBe(2);
  });

  test('that throws is not repeated', async () => {
    let attempts = 0;
    const failing = retryUntilWritten(() => {
      attempts += 1;
      return Promise.reject(new RangeError('broken'));
    });
    await expect(failing).rejects.toThrow(RangeError);
    expect(attempts).toBe(1);
  });
});

test('a missing object is refused', () => {
  expect(requireFound('object')).toBe('object');
  expect(() => requireFound(null)).toThrow(expect.objectContaining({ code: 'not_found', param: null }));
});

/** Logs when the change begins and ends. The change ends when the test calls `finish` or `fail`. */
function slow(name: string, log: string[]) {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const act = async () => {
    log.push(`${name} begins`);
    const result = await promise;
    log.push(`${name} ends`);
    return result;
  };
  return { act, finish: () => resolve(name), fail: () => reject(new RangeError(name)) };
}

/** Waits until every pending microtask has run. */
function settled(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

describe('the mutex', () => {
  test('runs changes to one object one after the other, in the order they came', async () => {
    const mutex = new KeyedMutex();
    const log: string[] = [];
    const [first, second, third] = [slow('first', log), slow('second', log), slow('third', log)];
    const answers = [first, second, third].map(({ act }) => mutex.run('object', act));
    third.finish();
    second.finish();
    await settled();
    expect(log).toEqual(['first begins']);
    first.finish();
    expect(await Promise.all(answers)).toEqual(['first', 'second', 'third']);
    expect(log).toEqual(['first', 'second', 'third'].flatMap((name) => [`${name} begins`, `${name} ends`]));
  });

  test('lets changes to different objects run at the same time', async () => {
    const mutex = new KeyedMutex();
    const log: string[] = [];
    const [one, other] = [slow('one', log), slow('other', log)];
    const answers = [mutex.run('1/a', one.act), mutex.run('2/a', other.act)];
    await settled();
    expect(log).toEqual(['one begins', 'other begins']);
    one.finish();
    other.finish();
    await Promise.all(answers);
  });

  test('runs the next change after one that fails or throws at once', async () => {
    const mutex = new KeyedMutex();
    const failing = slow('failing', []);
    const first = mutex.run('object', failing.act);
    const second = mutex.run('object', () => {
      throw new TypeError('at once');
    });
    const third = mutex.run('object', async () => 'done');
    failing.fail();
    await expect(first).rejects.toThrow(RangeError);
    await expect(second).rejects.toThrow(TypeError);
    expect(await third).toBe('done');
  });

  test('keeps the order of many changes after its queue was empty', async () => {
    const mutex = new KeyedMutex();
    const log: string[] = [];
    await mutex.run('object', async () => log.push('before'));
    await Promise.all(
      Array.from({ length: 100 }, (_, i) => mutex.run('object', async () => log.push(String(i)))),
    );
    expect(log).toEqual(['before', ...Array.from({ length: 100 }, (_, i) => String(i))]);
  });
});
