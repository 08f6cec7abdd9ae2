import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { formatInstant, type Instant, instant, parseInstant } from './instant.ts';
import {
  isZone,
  type LocalTime,
  localInstant,
  parseLocalTime,
  resolveLocal,
  spanAt,
  toLocal,
} from './zone.ts';

function at(text: string): Instant {
  const parsed = parseInstant(text);
  if (parsed === null) throw new Error(`not an instant: ${text}`);
  return parsed;
}

function wall(text: string): LocalTime {
  const parsed = parseLocalTime(text);
  if (parsed === null) throw new Error(`not a wall clock: ${text}`);
  return parsed;
}

function show(local: LocalTime): string {
  return new Date(local).toISOString().slice(0, 19);
}

/** Reads the time zone data of the runtime, as an independent check. */
function intlClock(zone: string): (ms: number) => number {
  const format = new Intl.DateTimeFormat('sv-SE', {
    timeZone: zone,
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
    hour: '2-digit',
    minute: '2-digit',
    second: '2-digit',
    hourCycle: 'h23',
  });
  return (ms) => Date.parse(`${format.format(ms).replace(' ', 'T')}Z`);
}

const ALL_ZONES = Intl.supportedValuesOf('timeZone');

describe('the name of a zone', () => {
  test.each([
    'UTC',
    'utc',
    'GMT',
    'GMT0',
    'Zulu',
    'Europe/Berlin',
    'europe/berlin',
    'EUROPE/BERLIN',
    'US/Pacific',
    'Etc/GMT+5',
    'Etc/GMT-14',
    'EST',
    'EST5EDT',
    'CET',
    'W-SU',
    'Europe/Kiev',
    'Europe/Kyiv',
    'Asia/Calcutta',
    'Asia/Kolkata',
    'America/Argentina/ComodRivadavia',
    'America/North_Dakota/New_Salem',
    'Antarctica/DumontDUrville',
    'America/Port-au-Prince',
    'Australia/Lord_Howe',
  ])('%s is a zone', (name) => {
    expect(isZone(name)).toBe(true);
  });

  test.each([
    '',
    ' ',
    'Z',
    '+05:30',
    '-08:00',
    '+00',
    'UTC+2',
    'GMT+5',
    'UTC0',
    'Etc/GMT+13',
    'Etc/GMT-15',
    'Etc/Unknown',
    'Europe',
    'Europe/',
    'Europe/Atlantis',
    '/Europe/Berlin',
    ' Europe/Berlin',
    'Europe/Berlin ',
    'Europe/Berlin\0',
    'Europe\\Berlin',
    'Europe/Berlin,UTC',
    '../../etc/passwd',
    'posix/UTC',
    'right/UTC',
    'localtime',
    'null',
    'constructor',
    'America/\u017fantiago',
    'PST',
    'pst',
    'ACT',
    'IST',
    'JST',
    'SystemV/PST8PDT',
    'systemv/pst8',
    'US/Pacific-New',
    'Canada/East-Saskatchewan',
    'x'.repeat(1_000_000),
    'Europe/'.repeat(100_000),
  ])('"%.40s" is not a zone', (name) => {
    expect(isZone(name)).toBe(false);
    expect(() => toLocal(name, instant(0))).toThrow(RangeError);
  });

  test('of three letters is a zone only if the IANA database has it', () => {
    const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ'.split('');
    const all = letters.flatMap((a) => letters.flatMap((b) => letters.map((c) => a + b + c)));
    expect(all.filter(isZone).join(' ')).toBe('CET EET EST GMT HST MET MST PRC ROC ROK UCT UTC WET');
  });

  test('every zone that the runtime lists is a zone', () => {
    expect(ALL_ZONES.filter((zone) => !isZone(zone))).toEqual([]);
  });
});

describe('reading a wall clock', () => {
  test.each(['2026-11-15T08:00:00', '2028-02-29T23:59:59', '0000-01-01T00:00:00', '9999-12-31T23:59:59'])(
    '%s',
    (text) => {
      expect(show(wall(text))).toBe(text);
    },
  );

  test.each([
    '',
    '2026-11-15',
    '2026-11-15T08:00',
    '2026-11-15T08:00:00Z',
    '2026-11-15T08:00:00.0',
    '2026-11-15T08:00:00+01:00',
    '2026-11-15t08:00:00',
    '2026-11-15 08:00:00',
    '2026-02-29T08:00:00',
    '2026-11-31T08:00:00',
    '2026-11-15T24:00:00',
    '2026-11-15T08:00:60',
    ' 2026-11-15T08:00:00',
    '2026-11-15T08:00:0x',
  ])('refused: "%s"', (text) => {
    expect(parseLocalTime(text)).toBeNull();
  });
});

describe('wall clock to instant', () => {
  test.each<readonly [string, string, string]>([
    ['UTC', '2026-11-15T08:00:00', '2026-11-15T08:00:00.000Z'],
    ['Europe/Berlin', '2026-11-15T08:00:00', '2026-11-15T07:00:00.000Z'],
    ['europe/berlin', '2026-07-15T08:00:00', '2026-07-15T06:00:00.000Z'],
    ['Asia/Kolkata', '2026-11-15T08:00:00', '2026-11-15T02:30:00.000Z'],
    ['Asia/Kathmandu', '2026-11-15T08:00:00', '2026-11-15T02:15:00.000Z'],
    ['Etc/GMT+5', '2026-11-15T08:00:00', '2026-11-15T13:00:00.000Z'],
    ['Europe/Dublin', '2026-07-15T08:00:00', '2026-07-15T07:00:00.000Z'],
    ['Europe/Dublin', '2026-12-15T08:00:00', '2026-12-15T08:00:00.000Z'],
    ['Pacific/Kiritimati', '2027-01-01T00:00:00', '2026-12-31T10:00:00.000Z'],
    ['America/New_York', '2150-07-01T12:00:00', '2150-07-01T16:00:00.000Z'],
    ['Africa/Monrovia', '1971-06-01T00:00:00', '1971-06-01T00:44:30.000Z'],
    ['Europe/Berlin', '1850-01-01T00:00:00', '1849-12-31T23:06:32.000Z'],
  ])('%s %s exists once', (zone, text, utc) => {
    expect(resolveLocal(zone, wall(text))).toEqual({ kind: 'single', at: at(utc) });
    expect(formatInstant(localInstant(zone, wall(text)))).toBe(utc);
    expect(show(toLocal(zone, at(utc)))).toBe(text);
  });

  test.each<readonly [string, string, string, string]>([
    ['Europe/Berlin', '2027-03-28T02:00:00', '2027-03-28T01:00:00.000Z', '2027-03-28T03:00:00'],
    ['Europe/Berlin', '2027-03-28T02:30:00', '2027-03-28T01:00:00.000Z', '2027-03-28T03:30:00'],
    ['Europe/Berlin', '2027-03-28T02:59:59', '2027-03-28T01:00:00.000Z', '2027-03-28T03:59:59'],
    ['Europe/Dublin', '2027-03-28T01:30:00', '2027-03-28T01:00:00.000Z', '2027-03-28T02:30:00'],
    ['America/New_York', '2027-03-14T02:30:00', '2027-03-14T07:00:00.000Z', '2027-03-14T03:30:00'],
    ['Australia/Lord_Howe', '2027-10-03T02:15:00', '2027-10-02T15:30:00.000Z', '2027-10-03T02:45:00'],
    ['America/Santiago', '2027-09-05T00:30:00', '2027-09-05T04:00:00.000Z', '2027-09-05T01:30:00'],
    ['Africa/Cairo', '2027-04-30T00:00:00', '2027-04-29T22:00:00.000Z', '2027-04-30T01:00:00'],
    ['Asia/Beirut', '2027-03-28T00:30:00', '2027-03-27T22:00:00.000Z', '2027-03-28T01:30:00'],
    ['Antarctica/Troll', '2027-03-28T01:30:00', '2027-03-28T01:00:00.000Z', '2027-03-28T03:30:00'],
    ['Pacific/Apia', '2011-12-30T12:00:00', '2011-12-30T10:00:00.000Z', '2011-12-31T12:00:00'],
  ])('%s %s is in a gap: its end, and the time moved forward by it', (zone, text, end, shifted) => {
    const resolved = resolveLocal(zone, wall(text));
    if (resolved.kind !== 'gap') throw new Error(`no gap but ${resolved.kind}`);
    expect(formatInstant(resolved.end)).toBe(end);
    expect(show(toLocal(zone, resolved.shifted))).toBe(shifted);
    expect(localInstant(zone, wall(text))).toBe(resolved.shifted);
  });

  test.each<readonly [string, string, string, string]>([
    ['Europe/Berlin', '2027-10-31T02:00:00', '2027-10-31T00:00:00.000Z', '2027-10-31T01:00:00.000Z'],
    ['Europe/Berlin', '2027-10-31T02:59:59', '2027-10-31T00:59:59.000Z', '2027-10-31T01:59:59.000Z'],
    ['America/New_York', '2027-11-07T01:30:00', '2027-11-07T05:30:00.000Z', '2027-11-07T06:30:00.000Z'],
    ['Australia/Lord_Howe', '2027-04-04T01:45:00', '2027-04-03T14:45:00.000Z', '2027-04-03T15:15:00.000Z'],
    ['America/Santiago', '2027-04-03T23:30:00', '2027-04-04T02:30:00.000Z', '2027-04-04T03:30:00.000Z'],
    ['Africa/Cairo', '2027-10-28T23:00:00', '2027-10-28T20:00:00.000Z', '2027-10-28T21:00:00.000Z'],
  ])('%s %s occurs twice: the first counts', (zone, text, first, second) => {
    expect(resolveLocal(zone, wall(text))).toEqual({ kind: 'fold', first: at(first), second: at(second) });
    expect(formatInstant(localInstant(zone, wall(text)))).toBe(first);
  });

  test.each<readonly [string, string]>([
    ['Europe/Berlin', '2027-03-28T01:59:59'],
    ['Europe/Berlin', '2027-03-28T03:00:00'],
    ['Europe/Berlin', '2027-10-31T01:59:59'],
    ['Europe/Berlin', '2027-10-31T03:00:00'],
    ['Pacific/Apia', '2011-12-29T23:59:59'],
    ['Pacific/Apia', '2011-12-31T00:00:00'],
  ])('%s %s is just outside a gap or fold', (zone, text) => {
    expect(resolveLocal(zone, wall(text)).kind).toBe('single');
  });
});

describe('the results equal those of Intl', () => {
  /** An odd step, so that the samples have all times of day and year. */
  const STEP_MS = 31 * 86_400_000 + 7_654_321;

  test('every zone, 2022 to 2032, and the second before and after each of its clock changes', () => {
    const wrong: string[] = [];
    for (const zone of ALL_ZONES) {
      const clock = intlClock(zone);
      const end = Date.UTC(2032, 0, 1);
      const check = (ms: number): void => {
        const second = Math.floor(ms / 1_000) * 1_000;
        if (toLocal(zone, instant(second)) !== clock(second))
          wrong.push(`${zone} ${formatInstant(instant(second))}`);
      };
      for (let ms = Date.UTC(2022, 0, 1); ms < end; ms += STEP_MS) check(ms);
      for (let ms = Date.UTC(2022, 0, 1); ms < end; ms = spanAt(zone, instant(ms)).end) {
        check(spanAt(zone, instant(ms)).end - 1);
        check(spanAt(zone, instant(ms)).end);
      }
    }
    expect(wrong).toEqual([]);
  });

  test.each([
    'Africa/Casablanca',
    'Africa/El_Aaiun',
    'Africa/Monrovia',
    'America/New_York',
    'America/Santiago',
    'America/Sao_Paulo',
    'Antarctica/Casey',
    'Antarctica/Troll',
    'Asia/Gaza',
    'Asia/Pyongyang',
    'Asia/Tehran',
    'Australia/Lord_Howe',
    'Europe/Dublin',
    'Europe/Moscow',
    'Pacific/Apia',
    'Pacific/Kwajalein',
    'US/Pacific',
    'EST5EDT',
  ])('%s, 1970 to 2150', (zone) => {
    const clock = intlClock(zone);
    fc.assert(
      fc.property(fc.integer({ min: 0, max: Date.UTC(2150, 11, 31) / 1_000 }), (second) => {
        expect(toLocal(zone, instant(second * 1_000))).toBe(clock(second * 1_000));
      }),
      { numRuns: 500 },
    );
  });
});

describe('from instant to wall time and back', () => {
  const zone = fc.constantFrom(...ALL_ZONES);
  const second = fc.integer({ min: Date.UTC(2000, 0, 1) / 1_000, max: Date.UTC(2060, 0, 1) / 1_000 });
  /** Both properties get the same zones and seconds, because the blocks of a zone are expensive to compute. */
  const [seed = 0] = fc.sample(fc.integer(), 1);

  test('an instant is among the instants of its own wall time', () => {
    fc.assert(
      fc.property(zone, second, (name, seconds) => {
        const ms = instant(seconds * 1_000);
        const resolved = resolveLocal(name, toLocal(name, ms));
        if (resolved.kind === 'fold') {
          expect(resolved.second).toBeGreaterThan(resolved.first);
          expect([resolved.first, resolved.second]).toContain(ms);
        } else {
          expect(resolved).toEqual({ kind: 'single', at: ms });
        }
      }),
      { numRuns: 1_000, seed },
    );
  });

  test('any wall time, gaps included, has an instant', () => {
    fc.assert(
      fc.property(zone, second, (name, seconds) => {
        const local = wall(new Date(seconds * 1_000).toISOString().slice(0, 19));
        const shown = toLocal(name, localInstant(name, local));
        const resolved = resolveLocal(name, local);
        if (resolved.kind === 'gap') expect(shown).toBeGreaterThan(local);
        else expect(shown).toBe(local);
      }),
      { numRuns: 1_000, seed },
    );
  });

  test('the borders of blocks make no difference', () => {
    const wrong: string[] = [];
    for (const name of ['Pacific/Kiritimati', 'Etc/GMT+12', 'Pacific/Auckland', 'America/New_York']) {
      for (let hour = 0; hour < 1_100 * 24; hour += 3) {
        const ms = instant(Date.UTC(2026, 0, 1) + hour * 3_600_000);
        const { start, end } = spanAt(name, ms);
        if (localInstant(name, toLocal(name, ms)) > ms || start > ms || end <= ms)
          wrong.push(`${name} ${formatInstant(ms)}`);
      }
    }
    expect(wrong).toEqual([]);
  });

  test('the ends of the time range are accepted', () => {
    for (const name of ['UTC', 'Europe/Berlin']) {
      expect(Number.isInteger(toLocal(name, instant(8.64e15)))).toBe(true);
      expect(Number.isInteger(toLocal(name, instant(-8.64e15)))).toBe(true);
    }
  });

  test('more years than the cache holds give the same results', () => {
    const clock = intlClock('Europe/Berlin');
    for (let year = 1900; year < 2400; year += 1) toLocal('Europe/Berlin', instant(Date.UTC(year, 0, 1)));
    for (const year of [2026, 1950, 2399]) {
      const ms = Date.UTC(year, 6, 1);
      expect(toLocal('Europe/Berlin', instant(ms))).toBe(clock(ms));
    }
  });
});
