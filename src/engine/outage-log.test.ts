import { describe, expect, test } from 'vitest';
import { VirtualTime } from '#test/engine-harness.ts';
import { START } from '#test/store-contract/builders.ts';
import { OutageLog } from './outage-log.ts';

function kept() {
  const time = new VirtualTime(START);
  const lines: unknown[] = [];
  const outage = new OutageLog(time, {
    failed: ({ delivery }, count) => void lines.push([delivery, count]),
    recovered: (failures) => void lines.push(`recovered after ${failures}`),
  });
  return { time, lines, outage };
}

describe('an outage', () => {
  test('is reported at once, and then once a second with a count, however much fails', async () => {
    const { time, lines, outage } = kept();
    for (let each = 0; each < 8_000; each++) outage.failed({ delivery: `${each}` });
    expect(lines).toEqual([['0', 1]]);
    await time.advance(1_000);
    expect(lines).toEqual([
      ['0', 1],
      ['7999', 7_999],
    ]);
    await time.advance(60_000);
    expect(lines).toHaveLength(2);
    expect(time.pending).toBe(0);
  });

  test('ends with one line', async () => {
    const { time, lines, outage } = kept();
    outage.failed({ delivery: 'a' });
    await time.advance(5_000);
    for (let each = 0; each < 100; each++) outage.succeeded();
    expect(lines).toEqual([['a', 1], 'recovered after 1']);
  });

  test('is not over while some fail and others succeed', async () => {
    const { time, lines, outage } = kept();
    for (let each = 0; each < 10; each++) {
      outage.failed({ delivery: `${each}` });
      outage.succeeded();
      await time.advance(500);
    }
    expect(lines).toEqual([
      ['0', 1],
      ['1', 1],
      ['3', 2],
      ['5', 2],
      ['7', 2],
      ['9', 2],
    ]);
    await time.advance(1_000);
    expect(lines.slice(6)).toEqual(['recovered after 10']);
    expect(time.pending).toBe(0);
  });

  test('is reported to the end by a stop, which leaves no timer behind', async () => {
    const { time, lines, outage } = kept();
    outage.failed({ delivery: 'a' });
    outage.failed({ delivery: 'b' });
    outage.stop();
    expect(lines).toEqual([
      ['a', 1],
      ['b', 1],
    ]);
    expect(time.pending).toBe(0);
  });

  test('after a recovery is another one', async () => {
    const { time, lines, outage } = kept();
    outage.succeeded();
    outage.failed({ delivery: 'a' });
    await time.advance(1_000);
    outage.succeeded();
    outage.failed({ delivery: 'b' });
    await time.advance(1_000);
    outage.succeeded();
    expect(lines).toEqual([['a', 1], 'recovered after 1', ['b', 1], 'recovered after 1']);
  });
});
