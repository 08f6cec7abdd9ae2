import { describe, expect, test } from 'vitest';
import { StoreUnavailable, type Written } from '#src/ports/store.ts';
import { found, KeyTaken, untilWritten } from './command.ts';

const FINISHED = { status: 200, body: '{}' };

/** Answers what `answers` says, one attempt after the other, and then `stale`. */
function writing(...answers: readonly Written[]) {
  const attempts = { count: 0 };
  const attempt = async () => {
    const written = answers[attempts.count] ?? 'stale';
    attempts.count += 1;
    return { written, finished: { ...FINISHED, body: `attempt ${attempts.count}` } };
  };
  return { attempts, attempt };
}

describe('a decision', () => {
  test('that is written is made once', async () => {
    const { attempts, attempt } = writing('done');
    expect(await untilWritten(attempt)).toEqual({ ...FINISHED, body: 'attempt 1' });
    expect(attempts.count).toBe(1);
  });

  test('is made anew while others come between; the answer is that of the one that was written', async () => {
    const { attempts, attempt } = writing('stale', 'stale', 'stale', 'done');
    expect(await untilWritten(attempt)).toEqual({ ...FINISHED, body: 'attempt 4' });
    expect(attempts.count).toBe(4);
  });

  test('is given up when others always come between', async () => {
    const { attempts, attempt } = writing();
    await expect(untilWritten(attempt)).rejects.toThrow(StoreUnavailable);
    expect(attempts.count).toBe(20);
  });

  test('is over when another request took the key', async () => {
    const { attempts, attempt } = writing('stale', 'key_taken', 'done');
    await expect(untilWritten(attempt)).rejects.toThrow(KeyTaken);
    expect(attempts.count).toBe(2);
  });

  test('that fails is not made again', async () => {
    let attempts = 0;
    const failing = untilWritten(() => {
      attempts += 1;
      return Promise.reject(new RangeError('broken'));
    });
    await expect(failing).rejects.toThrow(RangeError);
    expect(attempts).toBe(1);
  });
});

test('what is not found is refused', () => {
  expect(found('object')).toBe('object');
  expect(() => found(null)).toThrow(expect.objectContaining({ code: 'not_found', param: null }));
});
