import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { durationMs, durationMsCeil, formatDuration, parseDuration } from './duration.ts';

const US = 1_000n;
const MS = 1_000n * US;
const S = 1_000n * MS;
const M = 60n * S;
const H = 60n * M;

const INT64_MIN = -(2n ** 63n);
const INT64_MAX = 2n ** 63n - 1n;

describe('a duration is read as Go reads it', () => {
  test.each<readonly [string, bigint]>([
    ['0', 0n],
    ['-0', 0n],
    ['+0', 0n],
    ['0s', 0n],
    ['0h0m0s', 0n],
    ['5s', 5n * S],
    ['30s', 30n * S],
    ['1478s', 1478n * S],
    ['-5s', -5n * S],
    ['+5s', 5n * S],
    ['+5m', 5n * M],
    ['-5m', -5n * M],
    ['5.0s', 5n * S],
    ['5.6s', 5n * S + 600n * MS],
    ['5.s', 5n * S],
    ['1.s', S],
    ['.5s', 500n * MS],
    ['1.004s', S + 4n * MS],
    ['1.0040s', S + 4n * MS],
    ['100.00100s', 100n * S + MS],
    ['10ns', 10n],
    ['11us', 11n * US],
    ['12\u00b5s', 12n * US],
    ['12\u03bcs', 12n * US],
    ['13ms', 13n * MS],
    ['14s', 14n * S],
    ['15m', 15n * M],
    ['16h', 16n * H],
    ['1.5h', 90n * M],
    ['3h30m', 3n * H + 30n * M],
    ['10.5s4m', 4n * M + 10n * S + 500n * MS],
    ['-2m3.4s', -(2n * M + 3n * S + 400n * MS)],
    ['1h2m3s4ms5us6ns', H + 2n * M + 3n * S + 4n * MS + 5n * US + 6n],
    ['39h9m14.425s', 39n * H + 9n * M + 14n * S + 425n * MS],
    ['1s1s1s', 3n * S],
    ['52763797000ns', 52_763_797_000n],
    ['00000000000000000000000000000001s', S],
    // These integers are beyond the precision of a double.
    ['9007199254740993ns', 2n ** 53n + 1n],
    // Fractions of a nanosecond are cut off.
    ['1.9ns', 1n],
    ['0.9ns', 0n],
    ['-1.9ns', -1n],
    // Fractions are computed with a double, and digits beyond int64 are dropped.
    ['0.3333333333333333333h', 20n * M],
    ['0.100000000000000000000h', 6n * M],
    ['0.830103483285477580700h', 49n * M + 48n * S + 372_539_827n],
    ['0.9735652408983332134h', 3_504_834_867_233n],
    [`0.${'0'.repeat(400)}1h`, 0n],
    // These are the ends of int64.
    ['9223372036854775807ns', INT64_MAX],
    ['9223372036854775.807us', INT64_MAX],
    ['9223372036s854ms775us807ns', INT64_MAX],
    ['-9223372036854775807ns', -INT64_MAX],
    ['-9223372036854775808ns', INT64_MIN],
    ['-9223372036854775.808us', INT64_MIN],
    ['-9223372036s854ms775us808ns', INT64_MIN],
    ['-2562047h47m16.854775808s', INT64_MIN],
  ])('%s', (text, nanoseconds) => {
    expect(parseDuration(text)).toBe(nanoseconds);
  });

  test.each([
    '',
    '3',
    '5',
    '1h30',
    '-',
    '+',
    's',
    'h',
    '.',
    '-.',
    '.s',
    '+.s',
    '1d',
    '1w',
    '1y',
    '00',
    '+00',
    '0.0',
    '--5s',
    '+-5s',
    '5-s',
    '1h-5m',
    ' 1s',
    '1s ',
    '1 s',
    '1h 30m',
    '1S',
    '1H',
    '1Ms',
    '1sec',
    '1..5s',
    '1.5.5s',
    '1,5s',
    '1e3s',
    '0x1s',
    '1_000s',
    '\u0661s',
    '\uff11s',
    '1\ud800s',
    'Infinitys',
    'NaNs',
    'P1D',
    'PT5M',
    'null',
    '1s\0',
    '3000000h',
    '2562048h',
    '9223372036854775808ns',
    '9223372036854775.808us',
    '9223372036854ms775us808ns',
    '-9223372036854775809ns',
    '-9223372036854775808ns1ns',
    '18446744073709551616ns',
    '18446744073709551617ns',
    '9223372036854775808ns9223372036854775808ns',
    '99999999999999999999999999s',
  ])('refused: "%s"', (text) => {
    expect(parseDuration(text)).toBeNull();
    expect(durationMs(text)).toBeNull();
    expect(durationMsCeil(text)).toBeNull();
  });

  const COMPONENT = /(\d*)(?:\.(\d*))?(ns|us|\u00b5s|\u03bcs|ms|s|m|h)/g;
  const UNITS: Readonly<Record<string, bigint>> = {
    ns: 1n,
    us: US,
    '\u00b5s': US,
    '\u03bcs': US,
    ms: MS,
    s: S,
    m: M,
    h: H,
  };

  /** Returns the value in exact arithmetic, from a plain reading of the grammar. Returns null for other texts. */
  function exactly(text: string): bigint | null {
    if (/^[+-]?0$/.test(text)) return 0n;
    if (!/^[+-]?(?:(?:\d+\.?\d*|\.\d+)(?:ns|us|\u00b5s|\u03bcs|ms|s|m|h))+$/.test(text)) return null;
    let sum = 0n;
    for (const [, whole = '', fraction = '', unit = ''] of text.matchAll(COMPONENT)) {
      sum += (BigInt(whole + fraction) * (UNITS[unit] ?? 0n)) / 10n ** BigInt(fraction.length);
    }
    if (sum > (text.startsWith('-') ? -INT64_MIN : INT64_MAX)) return null;
    return text.startsWith('-') ? -sum : sum;
  }

  const digits = fc.string({ unit: fc.constantFrom(...'0123456789'.split('')), maxLength: 7 });
  const component = fc
    .tuple(digits, fc.constantFrom('', '.'), digits, fc.constantFrom(...Object.keys(UNITS)))
    .map(([whole, dot, fraction, unit]) => whole + dot + fraction + unit);
  const wellFormedOrNearly = fc
    .tuple(fc.constantFrom('', '', '', '+', '-'), fc.array(component, { maxLength: 4 }))
    .map(([sign, components]) => sign + components.join(''));

  function agrees(text: string): void {
    const expected = exactly(text);
    const actual = parseDuration(text);
    if (expected === null || actual === null) {
      expect(actual, text).toBe(expected);
      return;
    }
    // A double may lose a nanosecond in each fraction.
    const difference = actual > expected ? actual - expected : expected - actual;
    expect(difference <= 4n, `${text}: ${actual} for ${expected}`).toBe(true);
  }

  test('texts of the grammar are read, and others are refused', () => {
    fc.assert(fc.property(wellFormedOrNearly, agrees), { numRuns: 3_000 });
  });

  test('a damaged duration is read as its new text, or refused', () => {
    const damage = fc.record({
      text: wellFormedOrNearly,
      position: fc.nat(40),
      removed: fc.integer({ min: 0, max: 2 }),
      inserted: fc.string({ unit: fc.constantFrom(...'0159.+-nusmhd \u00b5eE,_'.split('')), maxLength: 2 }),
    });
    fc.assert(
      fc.property(damage, ({ text, position, removed, inserted }) => {
        agrees(text.slice(0, position) + inserted + text.slice(position + removed));
      }),
      { numRuns: 5_000 },
    );
  });

  test('any other text is refused without an error', () => {
    fc.assert(fc.property(fc.string({ unit: 'binary-ascii', maxLength: 30 }), agrees));
  });

  test.each([
    [`${'0'.repeat(998)}1s`, S],
    [`0.${'3'.repeat(997)}h`, 20n * M - 1n],
    ['1s'.repeat(500), 500n * S],
  ] as const)('a long text is accepted (case %#)', (text, expected) => {
    expect(text.length).toBeGreaterThanOrEqual(1_000);
    const actual = parseDuration(text) ?? 0n;
    expect(actual - expected).toBeLessThanOrEqual(1n);
    expect(actual - expected).toBeGreaterThanOrEqual(-1n);
  });

  test('a text of more than 1,000 characters is refused', () => {
    expect(parseDuration(`${'0'.repeat(999)}1s`)).toBeNull();
    expect(parseDuration('1s'.repeat(500_000))).toBeNull();
  });
});

describe('a duration is written as Go writes it', () => {
  test.each<readonly [bigint, string]>([
    [0n, '0s'],
    [1n, '1ns'],
    [1_100n, '1.1\u00b5s'],
    [2_200_000n, '2.2ms'],
    [300n * MS, '300ms'],
    [3_300n * MS, '3.3s'],
    [5n * M, '5m0s'],
    [4n * M + 5n * S, '4m5s'],
    [4n * M + 5_001n * MS, '4m5.001s'],
    [5n * H + 6n * M + 7_001n * MS, '5h6m7.001s'],
    [90n * M, '1h30m0s'],
    [8n * M + 1n, '8m0.000000001s'],
    [-S, '-1s'],
    [-999n, '-999ns'],
    [INT64_MAX, '2562047h47m16.854775807s'],
    [INT64_MIN, '-2562047h47m16.854775808s'],
  ])('%s is %s', (nanoseconds, text) => {
    expect(formatDuration(nanoseconds)).toBe(text);
  });

  test('what was written is read back, for any int64', () => {
    fc.assert(
      fc.property(
        fc.bigInt({ min: INT64_MIN, max: INT64_MAX }),
        fc.integer({ min: 0, max: 60 }),
        (wide, bits) => {
          // The shift makes small magnitudes as likely as large ones.
          const nanoseconds = wide >> BigInt(bits);
          expect(parseDuration(formatDuration(nanoseconds))).toBe(nanoseconds);
        },
      ),
      { numRuns: 3_000 },
    );
  });
});

describe('whole milliseconds', () => {
  test.each<readonly [string, number, number]>([
    ['300ms', 300, 300],
    ['1.5s', 1_500, 1_500],
    ['1ns', 0, 1],
    ['999999ns', 0, 1],
    ['1000001ns', 1, 2],
    ['-1ns', 0, 0],
    ['-1.5ms', -1, -1],
    ['0', 0, 0],
    ['2562047h', 9_223_369_200_000, 9_223_369_200_000],
  ])('%s is %d truncated and %d rounded up', (text, truncated, raised) => {
    // `+ 0` removes the sign of a negative zero.
    expect((durationMs(text) ?? Number.NaN) + 0).toBe(truncated);
    expect((durationMsCeil(text) ?? Number.NaN) + 0).toBe(raised);
  });
});
