import { expect, test } from 'vitest';
import type { RunNote } from '#src/domain/run-notes.ts';
import { type LocalTime, parseLocalTime } from '#src/domain/zone.ts';
import { noteText, offsetText, wallClockText } from './run-text.ts';

function wall(text: string): LocalTime {
  const local = parseLocalTime(text);
  if (local === null) throw new Error(`Not a wall clock: ${text}`);
  return local;
}

test.each([
  [0, '+00:00'],
  [20_700_000, '+05:45'],
  [-16_200_000, '-04:30'],
  [1_172_000, '+00:19:32'],
])('an offset of %i ms is %s', (offsetMs, text) => {
  expect(offsetText(offsetMs)).toBe(text);
});

test('a wall clock is written as it is read', () => {
  expect(wallClockText(wall('2027-03-28T02:30:00'))).toBe('2027-03-28T02:30:00');
});

test.each<readonly [RunNote, string]>([
  [
    {
      kind: 'gap',
      from: wall('2027-03-28T02:30:00'),
      to: wall('2027-03-28T02:30:00'),
      firesAt: wall('2027-03-28T03:00:00'),
    },
    '02:30 does not exist on 2027-03-28, fires 03:00',
  ],
  [
    {
      kind: 'gap',
      from: wall('2027-03-28T02:00:00'),
      to: wall('2027-03-28T02:45:00'),
      firesAt: wall('2027-03-28T03:00:00'),
    },
    '02:00 to 02:45 do not exist on 2027-03-28, fires once at 03:00',
  ],
  [
    { kind: 'fold', at: wall('2027-10-31T02:30:00'), pass: 1, firesInBoth: false },
    '02:30 occurs twice on 2027-10-31, fires the first time',
  ],
  [
    { kind: 'fold', at: wall('2027-10-31T02:30:00'), pass: 2, firesInBoth: true },
    '02:30 occurs twice on 2027-10-31, this is the second pass',
  ],
  [{ kind: 'offset', beforeMs: 3_600_000, afterMs: 7_200_000 }, 'offset changes +01:00 → +02:00'],
  [{ kind: 'short_months', months: [{ year: 2027, month: 2 }], days: [30] }, '2027-02 has no day 30'],
])('the note %o is written as %s', (note, text) => {
  expect(noteText(note)).toBe(text);
});
