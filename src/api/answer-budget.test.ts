import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { describe, expect, it } from 'vitest';
import type { RenderedAnswer } from '#src/commands/command.ts';
import type { Timers } from '#src/ports/system.ts';
import {
  AnswerBudget,
  AnswerTooLong,
  CHANGE_BYTES_MAX,
  LONG_BYTES_MAX,
  LONGEST_ANSWER_BYTES,
  ORDINARY_ANSWER_BYTES,
  ORDINARY_BYTES_MAX,
  type ReadAnswer,
} from './answer-budget.ts';

/** Timers that never fire, so that no request is refused for waiting too long. */
const timers: Timers = { after: () => () => {} };
/** The number that one customer may hold, which is two thirds. */
const shareOf = (bytesMax: number, bytes: number) => Math.ceil((bytesMax / bytes) * (2 / 3));
const LONG_SHARE = shareOf(LONG_BYTES_MAX, LONGEST_ANSWER_BYTES);
const ORDINARY_SHARE = shareOf(ORDINARY_BYTES_MAX, ORDINARY_ANSWER_BYTES);
const MIB = 1_048_576;

function responseOf(): ServerResponse {
  return new ServerResponse(new IncomingMessage(new Socket()));
}

function answerOf(bytes: number): RenderedAnswer {
  return { status: 200, body: 'x'.repeat(bytes) };
}

/** A page of the given size, which records the limit of each read. */
function pageOf(bytes: number) {
  const limits: number[] = [];
  const read: ReadAnswer = async (bytesMax) => {
    limits.push(bytesMax);
    if (bytes > bytesMax) throw new AnswerTooLong();
    return answerOf(bytes);
  };
  return { read, limits };
}

function nextTick(): Promise<void> {
  return new Promise((resolve) => void setImmediate(resolve));
}

/** Sends requests to a budget and records which ones are answered. */
function openBudget() {
  const budget = new AnswerBudget(timers);
  const answered: ServerResponse[] = [];
  const record = (response: ServerResponse) => () => void answered.push(response);
  const read = (customer: string, page: ReadAnswer) => {
    const response = responseOf();
    budget.read(response, customer, page).then(record(response), () => {});
    return response;
  };
  const change = (customer: string, bodyBytes: number, act: () => Promise<RenderedAnswer>) => {
    const response = responseOf();
    budget.change(response, customer, bodyBytes, act).then(record(response), () => {});
    return response;
  };
  const count = async () => {
    await nextTick();
    return answered.length;
  };
  return { read, change, answered, count };
}

describe('ordinary answers', () => {
  it('hold only their size when it is known, so clients that do not read delay no one', async () => {
    const { read, count } = openBudget();
    const { read: page, limits } = pageOf(2_000);
    for (let i = 0; i < 1_000; i++) read('a', page);
    expect(await count()).toBe(1_000);
    expect(new Set(limits)).toEqual(new Set([ORDINARY_ANSWER_BYTES]));
  });

  it('are read a few at a time, and one customer gets only its share', async () => {
    const { read, count } = openBudget();
    let reading = 0;
    const { promise: released, resolve: release } = Promise.withResolvers<void>();
    const slow: ReadAnswer = async () => {
      reading++;
      await released;
      return answerOf(10);
    };
    for (let i = 0; i < 1_000; i++) read('greedy', slow);
    expect(await count()).toBe(0);
    expect(reading).toBe(ORDINARY_SHARE);
    read('modest', pageOf(10).read);
    expect(await count()).toBe(1);
    release();
    expect(await count()).toBe(1_001);
  });
});

describe('long answers', () => {
  it('are dropped, and read again when the longest answer would fit', async () => {
    const { read, count } = openBudget();
    const { read: page, limits } = pageOf(LONGEST_ANSWER_BYTES);
    for (let i = 0; i < 300; i++) read('a', page);
    expect(await count()).toBe(LONG_SHARE);
    const again = limits.filter((bytesMax) => bytesMax === Number.POSITIVE_INFINITY);
    expect([limits.length, again.length]).toEqual([300 + LONG_SHARE, LONG_SHARE]);
  });

  it('of one object are recognised by their size', async () => {
    const { read, count } = openBudget();
    for (let i = 0; i < 300; i++) read('a', async () => answerOf(MIB));
    expect(await count()).toBeLessThan(LONG_BYTES_MAX / MIB);
  });

  it('release their bytes when their clients have read them or disconnected', async () => {
    const { read, answered, count } = openBudget();
    const { read: page } = pageOf(LONGEST_ANSWER_BYTES);
    for (let i = 0; i < LONG_SHARE; i++) read('a', page);
    await count();
    const gone = read('a', page);
    const waiting = read('a', page);
    await count();
    gone.emit('close');
    expect(await count()).toBe(LONG_SHARE);
    answered[0]?.emit('close');
    expect(await count()).toBe(LONG_SHARE + 1);
    expect(answered.at(-1)).toBe(waiting);
  });

  it('that are shorter than the longest release the difference', async () => {
    const { read, count } = openBudget();
    const bytes = 2 * ORDINARY_ANSWER_BYTES;
    const { read: page } = pageOf(bytes);
    for (let i = 0; i < 300; i++) read('a', page);
    expect(await count()).toBeGreaterThan(2 * LONG_SHARE);
  });

  it('that no client reads delay no ordinary answer of any customer', async () => {
    const { read, change, count } = openBudget();
    for (let i = 0; i < 300; i++) read(`c${i % 10}`, pageOf(LONGEST_ANSWER_BYTES).read);
    const before = await count();
    read('c1', pageOf(10).read);
    read('other', pageOf(10).read);
    change('other', 0, async () => answerOf(10));
    change('other', MIB, async () => answerOf(10));
    expect(await count()).toBe(before + 4);
  });
});

describe('answers to changes', () => {
  it('hold their real size, and the next ones wait for them', async () => {
    const { change, answered, count } = openBudget();
    const made = async () => answerOf(MIB);
    for (let i = 0; i < 300; i++) change('a', 0, made);
    const before = await count();
    expect(before).toBeLessThanOrEqual(ORDINARY_SHARE);
    for (const response of answered.slice()) response.emit('close');
    expect(await count()).toBeGreaterThan(before);
  });

  it('with large bodies have their own budget', async () => {
    const { read, change, count } = openBudget();
    let made = 0;
    const never = () => {
      made++;
      return new Promise<RenderedAnswer>(() => {});
    };
    for (let i = 0; i < 300; i++) change('a', MIB, never);
    expect(await count()).toBe(0);
    expect(made).toBe(shareOf(CHANGE_BYTES_MAX, MIB));
    read('a', pageOf(10).read);
    expect(await count()).toBe(1);
  });
});
