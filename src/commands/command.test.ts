import { describe, expect, test } from 'vitest';
import { StoreUnavailable, type Written } from '#src/ports/store.ts';
import { found, KeyTaken, untilWritten } from './command.ts';

const FINISHED = { status: 200, body: '{}' };

/** Answers what `answers` says, one try after the other, and then `stale`. */
function writing(...answers: readonly Written[]) {
  const tries = { count: 0 };
  const attempt = async () => {
    const written = answers[tries.count] ?? 'stale';
    tries.count += 1;
    return { written, finished: { ...FINISHED, body: `try ${tries.count}` } };
  };
  return { tries, attempt };
}

describe('a decision', () => {
  test('that is written is made once', async () => {
    const { tries, attempt } = writing('done');
    expect(await untilWritten(attempt)).toEqual({ ...FINISHED, body: 'try 1' });
    expect(tries.count).toBe(1);
  });

  test('is made anew while others come between; the answer is that of the one that was written', async () => {
    const { tries, attempt } = writing('stale', 'stale', 'stale', 'done');
    expect(await untilWritten(attempt)).toEqual({ ...FINISHED, body: 'try 4' });
    expect(tries.count).toBe(4);
  });

  test('is given up when others always come between', async () => {
    const { tries, attempt } = writing();
    await expect(untilWritten(attempt)).rejects.toThrow(StoreUnavailable);
    expect(tries.count).toBe(20);
  });

  test('is over when another request took the key', async () => {
    const { tries, attempt } = writing('stale', 'key_taken', 'done');
    await expect(untilWritten(attempt)).rejects.toThrow(KeyTaken);
    expect(tries.count).toBe(2);
  });

  test('that fails is not made again', async () => {
    let tries = 0;
    const failing = untilWritten(() => {
      tries += 1;
      return Promise.reject(new RangeError('broken'));
    });
    await expect(failing).rejects.toThrow(RangeError);
    expect(tries).toBe(1);
  });
});

test('what is not found is refused', () => {
  expect(found('object')).toBe('object');
  expect(() => found(null)).toThrow(expect.objectContaining({ code: 'not_found', param: null }));
});
