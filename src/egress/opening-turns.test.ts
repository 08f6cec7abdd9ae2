/** Which connection is opened when, by customer and host. */
import { describe, expect, test } from 'vitest';
import type { Partition } from '#src/domain/partition.ts';
import { AROUND_MS } from '#src/ports/customers-around.ts';
import { ScriptedTimers } from '#test/egress/rig.ts';
import {
  BEGUN_TOGETHER_MAX,
  BEGUN_TOGETHER_MAX_ALONE,
  type OpeningTurn,
  OpeningTurns,
  REST_MS,
  UNDER_WAY_MAX,
  UNDER_WAY_MAX_ALONE,
} from './opening-turns.ts';

const LARGE = 1 as Partition;
const SMALL = 2 as Partition;

class AgingTimers extends ScriptedTimers {
  now = 0;
  override readonly elapsed = () => this.now;
}

function setUp() {
  const timers = new AgingTimers();
  const turns = new OpeningTurns(timers);
  const begun: string[] = [];
  const ask = (customer: Partition, origin: string): OpeningTurn => {
    const turn = turns.ask(customer, origin);
    void turn.begun.then(() => begun.push(`${customer} ${origin}`));
    return turn;
  };
  const askMany = (count: number, customer: Partition, origin: string) =>
    Array.from({ length: count }, () => ask(customer, origin));
  /** One turn of the event loop, or the rest until the next of these turns. */
  const turn = async () => {
    timers.pass(0);
    timers.pass(REST_MS);
    await Promise.resolve();
  };
  return { timers, turns, begun, ask, askMany, turn };
}

describe('connections', () => {
  test('begin at once, as long as there are few', async () => {
    const { begun, askMany, turn } = setUp();
    askMany(BEGUN_TOGETHER_MAX, LARGE, 'a');
    await Promise.resolve();
    expect(begun).toHaveLength(BEGUN_TOGETHER_MAX);
    await turn();
    askMany(1, LARGE, 'a');
    await Promise.resolve();
    expect(begun).toHaveLength(BEGUN_TOGETHER_MAX + 1);
  });

  test('begin a few in each turn of the event loop where customers share it, more for one alone', async () => {
    for (const [customers, few] of [
      [[LARGE], BEGUN_TOGETHER_MAX_ALONE],
      [[LARGE, SMALL], BEGUN_TOGETHER_MAX],
    ] as const) {
      const { begun, askMany, turn, turns } = setUp();
      for (const customer of customers) turns.notice(customer);
      askMany(50, LARGE, 'a');
      await Promise.resolve();
      expect(begun).toHaveLength(few);
      await turn();
      expect(begun).toHaveLength(2 * few);
    }
  });

  test('that wait begin a few in each turn beside others, however long ago they were asked for', async () => {
    const { timers, begun, askMany, turn, turns } = setUp();
    turns.notice(LARGE);
    turns.notice(SMALL);
    const turnsToCome = (2 * AROUND_MS) / REST_MS;
    for (const opening of askMany(2_000, LARGE, 'a')) void opening.begun.then(opening.end);
    for (let at = 0; at < turnsToCome; at++) {
      timers.now += REST_MS;
      if (at % 50 === 0) turns.notice(SMALL);
      await turn();
    }
    expect(begun).toHaveLength((1 + turnsToCome) * BEGUN_TOGETHER_MAX);
  });

  test('of another customer, and of another host, do not wait for those of one with many', async () => {
    const { begun, ask, askMany, turn, turns } = setUp();
    turns.notice(LARGE);
    turns.notice(SMALL);
    askMany(60, LARGE, 'a');
    ask(LARGE, 'b');
    ask(SMALL, 'c');
    await turn();
    expect(begun).toContain('2 c');
    await turn();
    expect(begun).toContain('1 b');
  });

  test('to one host are so many at one time: those that hang hold up no other host', async () => {
    const { begun, ask, askMany, turn, turns } = setUp();
    const hanging = askMany(2 * UNDER_WAY_MAX_ALONE, LARGE, 'a');
    for (let turned = 0; turned < 100; turned++) await turn();
    expect(begun).toHaveLength(UNDER_WAY_MAX_ALONE);
    ask(LARGE, 'b');
    await turn();
    expect(begun.at(-1)).toBe('1 b');
    hanging[0]?.end();
    hanging[0]?.end();
    for (let turned = 0; turned < 3; turned++) await turn();
    expect(begun.filter((one) => one === '1 a')).toHaveLength(UNDER_WAY_MAX_ALONE + 1);
    turns.notice(LARGE);
    turns.notice(SMALL);
    askMany(2 * UNDER_WAY_MAX, SMALL, 'd');
    for (let turned = 0; turned < 100; turned++) await turn();
    expect(begun.filter((one) => one === '2 d')).toHaveLength(UNDER_WAY_MAX);
  });

  test('begin their handshakes a few in each turn, customers in turns, however many are there at once', async () => {
    const { timers, turns } = setUp();
    turns.notice(LARGE);
    turns.notice(SMALL);
    const begun: Partition[] = [];
    const handshake = (customer: Partition) =>
      void turns.handshake(customer).then(() => begun.push(customer));
    for (let n = 0; n < 20; n++) handshake(LARGE);
    handshake(SMALL);
    await Promise.resolve();
    expect(begun).toHaveLength(BEGUN_TOGETHER_MAX);
    timers.pass(0);
    await Promise.resolve();
    expect(begun).toHaveLength(2 * BEGUN_TOGETHER_MAX);
    expect(begun).toContain(SMALL);
    for (let turned = 0; turned < 20; turned++) {
      timers.pass(0);
      await Promise.resolve();
    }
    expect(begun).toHaveLength(21);
  });

  test('that are not wanted any more give up their place, begun or not', async () => {
    const { begun, askMany, turn, timers } = setUp();
    for (const one of askMany(UNDER_WAY_MAX_ALONE + 10, LARGE, 'a')) one.end();
    for (let turned = 0; turned < 20; turned++) await turn();
    const before = begun.length;
    askMany(3, LARGE, 'a');
    for (let turned = 0; turned < 3; turned++) await turn();
    expect(begun).toHaveLength(before + 3);
    expect(timers.waiting()).toEqual([]);
  });
});
