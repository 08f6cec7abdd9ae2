import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parseCron } from '#src/domain/cron.ts';
import { cronFaultText } from './cron-fault-text.ts';

describe('a cron expression that is not valid', () => {
  test.each([
    ['60 * * * *', 'the minute has "60", but only 0 to 59 are allowed, as in "0 9 * * MON-FRI".'],
    [
      '0 9 * * MUN',
      'the day of week has "MUN", but only 0 to 7, SUN to SAT are allowed, as in "0 9 * * MON-FRI".',
    ],
    [
      'TZ=Asia/Tokyo 0 9 * * *',
      'the time zone is not a part of it. Leave out "TZ=Asia/Tokyo", and give it as timezone.',
    ],
    ['@hourly', 'nicknames are not supported. Write "0 * * * *".'],
    ['@Weekly', 'nicknames are not supported. Write "0 0 * * 0".'],
    [
      '@reboot',
      'nicknames are not supported. Write five fields (minute, hour, day of month, month, day of week), such as "0 9 * * MON-FRI".',
    ],
    [
      '* * *',
      'it has 3 fields but needs five (minute, hour, day of month, month, day of week), such as "0 9 * * MON-FRI".',
    ],
    ['*/0 * * * *', 'the minute has "*/0", but a step must be a whole number of at least 1, such as */5.'],
    ['1,,2 * * * *', 'the minute has an empty item between commas. Write a list such as 1,15.'],
    ['0 9 ? * MON', 'the day of month has "?", but L, W, # and ? are not supported. Write * for any day.'],
    ['? 9 * * *', 'the minute has "?", but L, W, # and ? are not supported. Write * for any value.'],
    [
      '0 9 L * *',
      'the day of month has "L", but L, W, # and ? are not supported. Write 28-31, and let the receiver check for the last day.',
    ],
    [
      '0 9 15W * *',
      'the day of month has "15W", but L, W, # and ? are not supported. Write all days that it can be, and let the receiver check the date.',
    ],
    [
      '0 9 * * MON#2',
      'the day of week has "MON#2", but L, W, # and ? are not supported. Write all days that it can be, and let the receiver check the date.',
    ],
    [
      '0 9 * * FRIL',
      'the day of week has "FRIL", but L, W, # and ? are not supported. Write all days that it can be, and let the receiver check the date.',
    ],
    ['0 L * * *', 'the hour has "L", but L, W, # and ? are not supported. Write numbers, such as 9 or 9-17.'],
    ['0 0 31 4 *', 'no year has such a date. Choose a day that its month has, such as "0 9 28 2 *".'],
  ])('%s', (text, why) => {
    expect(cronFaultText(text, 'cron')).toBe(`cron "${text}" is not valid: ${why}`);
  });

  test('a valid one is refused only because it occurs too late', () => {
    expect(cronFaultText('0 0 29 2 MON', 'cron')).toMatch(/does not occur within the next 10 years\./);
  });

  test('whatever is given, the expressions that it offers are valid', () => {
    const field = fc.constantFrom(
      '*',
      '0',
      '61',
      '@daily',
      '@yearly',
      'L',
      '?',
      '1-',
      '5-1',
      '*/0',
      'MON',
      ',',
    );
    const text = fc.array(field, { maxLength: 7 }).map((fields) => fields.join(' '));
    fc.assert(
      fc.property(fc.oneof(text, fc.string()), (value) => {
        const offered = [...cronFaultText(value, 'cron').matchAll(/(?:Write|such as) "([^"]*)"/g)];
        for (const [, corrected = ''] of offered) expect(parseCron(corrected)).not.toBeNull();
      }),
    );
  });
});
