/** The document must never refuse what the service accepts, and the other way round where the form decides. */
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parseDuration } from '#src/domain/duration.ts';
import { type IdKind, parseId } from '#src/domain/id.ts';
import { formatInstant, instant, parseInstant } from '#src/domain/instant.ts';
import { isZone, parseLocalTime } from '#src/domain/zone.ts';
import {
  DURATION_FORM,
  exampleId,
  INSTANT_ANSWER_FORM,
  INSTANT_FORM,
  idForm,
  LOCAL_TIME_FORM,
  ZONE_FORM,
} from './forms.ts';

/** Texts of characters that the form uses, so that many of them are nearly right. */
function nearly(characters: string, maxLength: number): fc.Arbitrary<string> {
  return fc.string({ unit: fc.constantFrom(...characters.split('')), maxLength });
}

function fits({ pattern, maxLength = Number.POSITIVE_INFINITY }: { pattern: string; maxLength?: number }) {
  const form = new RegExp(pattern, 'u');
  return (text: string) => text.length <= maxLength && form.test(text);
}

describe('the form of durations is that of the parser', () => {
  const isDuration = fits(DURATION_FORM);

  test.each(['0', '+0', '-0', '5m', '1h30m', '.5s', '1.s', '-1.5h', '2us', '2µs', '2μs', '1ns1ns'])(
    '%s',
    (text) => {
      expect(parseDuration(text)).not.toBeNull();
      expect(isDuration(text)).toBe(true);
    },
  );

  test.each(['', '+', '5', '1d', '1h30', '.s', 's', ' 5m', '5m ', '5 m', '5M', '00', '1e3s', '--1s', '1µ'])(
    'not "%s"',
    (text) => {
      expect(parseDuration(text)).toBeNull();
      expect(isDuration(text)).toBe(false);
    },
  );

  test('for any short text, and for the longest', () => {
    fc.assert(
      fc.property(nearly('015.+-nuµmsh', 9), (text) => {
        expect(isDuration(text)).toBe(parseDuration(text) !== null);
      }),
    );
    const { maxLength } = DURATION_FORM;
    for (const length of [maxLength, maxLength + 1]) {
      const text = '5m'.padStart(length, '0');
      expect(isDuration(text)).toBe(parseDuration(text) !== null);
    }
  });
});

describe('the form of instants', () => {
  test('accepts what the parser accepts, and differs only in dates and times that do not exist', () => {
    const isInstant = fits(INSTANT_FORM);
    fc.assert(
      fc.property(nearly('0123-:.TtZz+ ', 6), (tail) => {
        const text = `2027-01-01T09:00:0${tail}`;
        if (parseInstant(text) !== null) expect(isInstant(text)).toBe(true);
      }),
    );
    const good = ['2027-01-01T09:00:00Z', '2027-01-01t09:00:00.123456789-23:59', '2027-01-01T09:00:00+01:00'];
    const bad = ['2027-01-01T09:00:00', '2027-01-01 09:00:00Z', '2027-01-01T09:00Z', '2027-01-01T09:00:00.Z'];
    for (const text of good)
      expect([text, isInstant(text), parseInstant(text) !== null]).toEqual([text, true, true]);
    for (const text of bad)
      expect([text, isInstant(text), parseInstant(text) !== null]).toEqual([text, false, false]);
    expect([isInstant('2027-02-30T00:00:00Z'), parseInstant('2027-02-30T00:00:00Z')]).toEqual([true, null]);
  });

  test('of answers is what the service writes', () => {
    const isAnswer = fits(INSTANT_ANSWER_FORM);
    fc.assert(
      fc.property(fc.integer({ min: -60_000_000_000_000, max: 253_402_300_799_999 }), (ms) => {
        expect(isAnswer(formatInstant(instant(ms)))).toBe(true);
      }),
    );
    expect(isAnswer('2027-01-01T09:00:00Z')).toBe(false);
  });

  test('of local times is that of the parser', () => {
    const isLocalTime = fits(LOCAL_TIME_FORM);
    for (const text of [
      '2027-01-01T09:00:00',
      '2027-01-01T09:00:00Z',
      '2027-01-01 09:00:00',
      '2027-01-01T09:00',
    ]) {
      expect([text, isLocalTime(text)]).toEqual([text, parseLocalTime(text) !== null]);
    }
  });
});

test('the form of time zones has every time zone', () => {
  const isName = fits(ZONE_FORM);
  for (const name of [...Intl.supportedValuesOf('timeZone'), 'UTC', 'Etc/GMT+12', 'utc']) {
    expect([name, isName(name), isZone(name)]).toEqual([name, true, true]);
  }
  for (const name of ['', '+05:30', 'Europe/Berlin ', 'A'.repeat(ZONE_FORM.maxLength + 1)]) {
    expect([name, isName(name), isZone(name)]).toEqual([name, false, false]);
  }
});

test('the form of ids is that of the parser', () => {
  for (const kind of ['sch', 'dlv', 'ep', 'att', 'req'] satisfies IdKind[]) {
    const isId = fits(idForm(kind));
    const example = exampleId(kind);
    expect(parseId(kind, example)).toBe(example);
    for (const text of [
      example,
      `${example}0`,
      example.slice(0, -1),
      example.toUpperCase(),
      `${example}\n`,
      'sch_',
    ]) {
      expect([text, isId(text)]).toEqual([text, parseId(kind, text) !== null]);
    }
  }
});
