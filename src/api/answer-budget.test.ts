import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { describe, expect, it } from 'vitest';
import type { RenderedAnswer } from '#src/commands/command.ts';
import type { Timers } from '#src/ports/system.ts';
import {
  AnswerBudget,
  CHANGE_BYTES_MAX,
  LONG_BYTES_MAX,
  LONGEST_ANSWER_BYTES,
  LongAnswer,
  ORDINARY_ANSWER_BYTES,
  ORDINARY_BYTES_MAX,
  type ReadAnswer,
} from './answer-budget.ts';

/** Nobody waits for so long that it is refused. */
const timers: Timers = { after: () => () => {} };
/** One customer may hold two thirds. */
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

/** A page of so many bytes, and how far each reading of it was to go. */
function pageOf(bytes: number) {
  const readings: number[] = [];
  const read: ReadAnswer = async (bytesMax) => {
    readings.push(bytesMax);
    if (bytes > bytesMax) throw new LongAnswer();
    return answerOf(bytes);
  };
  return { read, readings };
}

function settled(): Promise<void> {
  return new Promise((resolve) => void setImmediate(resolve));
}

/** Asks, notes who is answered, and lets clients take their answers. */
function openBudget() {
  const budget = new AnswerBudget(timers);
  const answered: ServerResponse[] = [];
  const note = (response: ServerResponse) => () => void answered.push(response);
  const read = (customer: string, page: ReadAnswer) => {
    const response = responseOf();
    budget.read(response, customer, page).then(note(response), () => {});
    return response;
  };
  const change = (customer: string, bodyBytes: number, act: () => Promise<RenderedAnswer>) => {
    const response = responseOf();
    budget.change(response, customer, bodyBytes, act).then(note(response), () => {});
    return response;
  };
  const count = async () => {
    await settled();
    return answered.length;
  };
  return { read, change, answered, count };
}

describe('ordinary answers', () => {
  it('hold no more than their size when it is known: those that nobody takes hold up nobody', async () => {
    const { read, count } = openBudget();
    const { read: page, readings } = pageOf(2_000);
    for (let i = 0; i < 1_000; i++) read('a', page);
    expect(await count()).toBe(1_000);
    expect(new Set(readings)).toEqual(new Set([ORDINARY_ANSWER_BYTES]));
  });

  it('are read a few at a time, of which one customer has a share', async () => {
    const { read, count } = openBudget();
    let reading = 0;
    const { promise: released, resolve: letGo } = Promise.withResolvers<void>();
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
    letGo();
    expect(await count()).toBe(1_001);
  });
});

describe('long answers', () => {
  it('are dropped, and read again when there is room for the longest', async () => {
    const { read, count } = openBudget();
    const { read: page, readings } = pageOf(LONGEST_ANSWER_BYTES);
    for (let i = 0; i < 300; i++) read('a', page);
    expect(await count()).toBe(LONG_SHARE);
    const again = readings.filter((bytesMax) => bytesMax === Number.POSITIVE_INFINITY);
    expect([readings.length, again.length]).toEqual([300 + LONG_SHARE, LONG_SHARE]);
  });

  it('of one object are found to be long by their size', async () => {
    const { read, count } = openBudget();
    for (let i = 0; i < 300; i++) read('a', async () => answerOf(MIB));
    expect(await count()).toBeLessThan(LONG_BYTES_MAX / MIB);
  });

  it('are given back when their clients have taken them or gone away', async () => {
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

  it('that are shorter than the longest make room once that is known', async () => {
    const { read, count } = openBudget();
    const bytes = 2 * ORDINARY_ANSWER_BYTES;
    const { read: page } = pageOf(bytes);
    for (let i = 0; i < 300; i++) read('a', page);
    expect(await count()).toBeGreaterThan(2 * LONG_SHARE);
  });

  it('that nobody takes hold up no ordinary answer, whoever asks for it', async () => {
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
  it('hold what they have come to, and the next waits for them', async () => {
    const { change, answered, count } = openBudget();
    const made = async () => answerOf(MIB);
    for (let i = 0; i < 300; i++) change('a', 0, made);
    const before = await count();
    expect(before).toBeLessThanOrEqual(ORDINARY_SHARE);
    for (const response of answered.slice()) response.emit('close');
    expect(await count()).toBeGreaterThan(before);
  });

  it('with large bodies have a budget of their own', async () => {
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
