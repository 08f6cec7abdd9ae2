/** What the benchmark says while it runs. */
import { describe, expect, test } from 'vitest';
import { ProgressLine } from '../../bench/progress.ts';

describe('the progress', () => {
  test('is a line for each step, with what is behind and what is left', () => {
    let now = 0;
    let text = '';
    using progress = new ProgressLine(4, { write: (part) => (text += part) }, () => now);
    progress.step('the first');
    now = 90_000;
    progress.step('the second');
    expect(text).toBe(
      '1 of 4  the first  (0:00 elapsed)\n2 of 4  the second  (1:30 elapsed, about 4:30 left)\n',
    );
  });

  test('goes on behind steps that were left out', () => {
    let text = '';
    using progress = new ProgressLine(4, { write: (part) => (text += part) }, () => 0);
    progress.passed(3);
    progress.step('the last');
    expect(text).toContain('4 of 4  the last');
  });

  test('is written over on a terminal, within its width', () => {
    const parts: string[] = [];
    const output = { isTTY: true, columns: 20, write: (part: string) => parts.push(part) };
    using progress = new ProgressLine(4, output, () => 0);
    progress.step('what takes more than twenty columns to say');
    expect(parts.join('')).toBe('\r\u001b[K1 of 4  what takes ');
    progress.note('Worth a line.');
    expect(parts.at(-1)).toBe('\r\u001b[KWorth a line.\n');
  });
});
