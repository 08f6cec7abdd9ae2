import { describe, expect, test } from 'vitest';
import { Refusal } from '#src/domain/errors.ts';
import { instant } from '#src/domain/instant.ts';
import type { Partition } from '#src/domain/project.ts';
import { StoreUnavailable } from '#src/ports/store.ts';
import { type ControlHarness, openControlHarness } from '#test/process/control-harness.ts';
import { IdempotencyKeyTaken, type MakeReceipt, type RenderedAnswer } from './command.ts';
import { IDEMPOTENCY_KEY_CHARACTERS_MAX, IDEMPOTENCY_WINDOW_MS, Idempotency } from './idempotency.ts';

const TEST = 1 as Partition;
const LIVE = 2 as Partition;
const REQUEST = { key: 'key-1', fingerprint: 'POST /v1/schedules {}' };

/** Counts effects. Each one stores its receipt and answers with its number. */
class Effects {
  count = 0;
  readonly #harness: ControlHarness;

  constructor(harness: ControlHarness) {
    this.#harness = harness;
  }

  readonly act = async (keep: MakeReceipt, partition = TEST): Promise<RenderedAnswer> => {
    const finished = { status: 201, body: `{"effect":${this.count + 1}}` };
    const receipt = keep(finished, this.#harness.clock.now());
    if (receipt !== null && (await this.#harness.store.addReceipt(partition, receipt)) === 'key_taken') {
      throw new IdempotencyKeyTaken();
    }
    this.count += 1;
    return finished;
  };
}

function node(harness: ControlHarness): Idempotency {
  return new Idempotency(harness.store, harness.clock);
}

async function codeOf(answer: Promise<unknown>): Promise<string> {
  try {
    await answer;
    return 'answered';
  } catch (error) {
    if (error instanceof Refusal) return error.code;
    throw error;
  }
}

test('the window is 24 hours, and a key has at most 255 characters', () => {
  expect(IDEMPOTENCY_WINDOW_MS).toBe(86_400_000);
  expect(IDEMPOTENCY_KEY_CHARACTERS_MAX).toBe(255);
});

describe('a request without a key', () => {
  test('takes effect every time, and stores no receipt', async () => {
    await using harness = await openControlHarness();
    const effects = new Effects(harness);
    const idempotency = node(harness);
    for (const body of ['{"effect":1}', '{"effect":2}']) {
      expect(await idempotency.once(TEST, null, effects.act)).toEqual({ status: 201, body, replayed: false });
    }
  });
});

describe('a request with a key', () => {
  test('that is repeated has no further effect, and gets the first answer', async () => {
    await using harness = await openControlHarness();
    const effects = new Effects(harness);
    const idempotency = node(harness);
    const answer = { status: 201, body: '{"effect":1}' };
    expect(await idempotency.once(TEST, REQUEST, effects.act)).toEqual({ ...answer, replayed: false });
    for (let again = 0; again < 3; again++) {
      expect(await idempotency.once(TEST, REQUEST, effects.act)).toEqual({ ...answer, replayed: true });
    }
    expect(effects.count).toBe(1);
  });

  test('is recognised after a restart, and on another node', async () => {
    await using harness = await openControlHarness();
    const effects = new Effects(harness);
    await node(harness).once(TEST, REQUEST, effects.act);
    expect(await node(harness).once(TEST, REQUEST, effects.act)).toMatchObject({ replayed: true });
    expect(effects.count).toBe(1);
  });

  test('that differs is refused', async () => {
    await using harness = await openControlHarness();
    const effects = new Effects(harness);
    const idempotency = node(harness);
    await idempotency.once(TEST, REQUEST, effects.act);
    const different = { ...REQUEST, fingerprint: 'POST /v1/schedules {"a":1}' };
    expect(await codeOf(idempotency.once(TEST, different, effects.act))).toBe('idempotency_key_reuse');
    expect(await codeOf(idempotency.once(TEST, REQUEST, effects.act))).toBe('answered');
    expect(effects.count).toBe(1);
  });

  test('counts only in its own partition', async () => {
    await using harness = await openControlHarness();
    const effects = new Effects(harness);
    const idempotency = node(harness);
    const answers = await Promise.all(
      [TEST, LIVE].map((partition) =>
        idempotency.once(partition, REQUEST, (keep) => effects.act(keep, partition)),
      ),
    );
    expect(answers.map(({ replayed }) => replayed)).toEqual([false, false]);
    expect(effects.count).toBe(2);
  });

  test('does not collide with others in flight, even if partition and key look alike when joined', async () => {
    await using harness = await openControlHarness();
    const effects = new Effects(harness);
    const idempotency = node(harness);
    const requests = [
      [1, '1/x'],
      [11, '/x'],
      [1, '/1/x'],
      [11, 'x'],
    ] as const;
    const answers = await Promise.all(
      requests.map(([partition, key]) =>
        idempotency.once(partition as Partition, { ...REQUEST, key }, (keep) =>
          effects.act(keep, partition as Partition),
        ),
      ),
    );
    expect(answers.every(({ replayed }) => !replayed)).toBe(true);
  });
});

describe('equal concurrent requests', () => {
  test('take effect once, and the others are refused as in progress', async () => {
    await using harness = await openControlHarness();
    const effects = new Effects(harness);
    const idempotency = node(harness);
    const codes = await Promise.all(
      Array.from({ length: 50 }, () => codeOf(idempotency.once(TEST, REQUEST, effects.act))),
    );
    expect(codes.filter((code) => code === 'answered')).toHaveLength(1);
    expect(codes.filter((code) => code === 'idempotency_in_progress')).toHaveLength(49);
    expect(effects.count).toBe(1);
    expect(await idempotency.once(TEST, REQUEST, effects.act)).toMatchObject({ replayed: true });
  });

  test('on several nodes take effect once, and get one answer', async () => {
    await using harness = await openControlHarness();
    const effects = new Effects(harness);
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => node(harness).once(TEST, REQUEST, effects.act)),
    );
    expect(effects.count).toBe(1);
    expect(new Set(answers.map(({ body }) => body)).size).toBe(1);
    expect(answers.filter(({ replayed }) => !replayed)).toHaveLength(1);
  });

  test('with different bodies on several nodes: one takes effect, and the others are refused', async () => {
    await using harness = await openControlHarness();
    const effects = new Effects(harness);
    const codes = await Promise.all(
      Array.from({ length: 5 }, (_, i) =>
        codeOf(node(harness).once(TEST, { ...REQUEST, fingerprint: String(i) }, effects.act)),
      ),
    );
    expect(codes.toSorted()).toEqual(['answered', ...Array<string>(4).fill('idempotency_key_reuse')]);
    expect(effects.count).toBe(1);
  });
});

describe('a key is free again', () => {
  test.for([
    ['a refusal', new Refusal('invalid_cron', 'cron')],
    ['a store that is unavailable', new StoreUnavailable('full')],
    ['an internal error', new TypeError('broken')],
  ] as const)('after %s', async ([, error]) => {
    await using harness = await openControlHarness();
    const effects = new Effects(harness);
    const idempotency = node(harness);
    await expect(idempotency.once(TEST, REQUEST, () => Promise.reject(error))).rejects.toBe(error);
    const different = { ...REQUEST, fingerprint: 'corrected' };
    expect(await idempotency.once(TEST, different, effects.act)).toMatchObject({ replayed: false });
    expect(effects.count).toBe(1);
  });

  test('after a synchronous error', async () => {
    await using harness = await openControlHarness();
    const idempotency = node(harness);
    const throwing = () => {
      throw new Refusal('missing_url', 'url');
    };
    expect(await codeOf(idempotency.once(TEST, REQUEST, throwing))).toBe('missing_url');
    expect(await codeOf(idempotency.once(TEST, REQUEST, throwing))).toBe('missing_url');
  });

  test('24 hours after the answer, to the millisecond', async () => {
    await using harness = await openControlHarness();
    const effects = new Effects(harness);
    const idempotency = node(harness);
    await idempotency.once(TEST, REQUEST, effects.act);
    harness.advance(IDEMPOTENCY_WINDOW_MS - 1);
    expect(await idempotency.once(TEST, REQUEST, effects.act)).toMatchObject({ replayed: true });
    harness.advance(1);
    const different = { ...REQUEST, fingerprint: 'a new day' };
    expect(await idempotency.once(TEST, different, effects.act)).toMatchObject({ replayed: false });
    expect(effects.count).toBe(2);
    expect(await codeOf(idempotency.once(TEST, REQUEST, effects.act))).toBe('idempotency_key_reuse');
  });
});

test('a key that was taken and has just expired is refused as in progress', async () => {
  await using harness = await openControlHarness();
  const idempotency = node(harness);
  const late = idempotency.once(TEST, REQUEST, async () => {
    harness.advance(IDEMPOTENCY_WINDOW_MS);
    throw new IdempotencyKeyTaken();
  });
  expect(await codeOf(late)).toBe('idempotency_in_progress');
});

test('the receipt has the answer, and expires after the window', async () => {
  await using harness = await openControlHarness();
  const now = harness.clock.now();
  await node(harness).once(TEST, REQUEST, new Effects(harness).act);
  expect(await harness.store.findReceipt(TEST, REQUEST.key, now)).toEqual({
    ...REQUEST,
    status: 201,
    body: '{"effect":1}',
    createdAt: now,
    expiresAt: instant(now + IDEMPOTENCY_WINDOW_MS),
  });
});
