import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { parseCron } from './cron.ts';
import { cronFault } from './cron-fault.ts';

test.each([
  ['0 9 * * MON-FRI', null],
  ['0 0 29 2 *', null],
  ['0 0 30 2 *', { kind: 'no_such_date' }],
  ['@daily', { kind: 'nickname', text: '@daily' }],
  ['', { kind: 'field_count', count: 0 }],
  ['0 9 * *', { kind: 'field_count', count: 4 }],
  ['0 0 9 * * MON', { kind: 'field_count', count: 6 }],
  ['60 9 * * *', { kind: 'bad_value', field: 'minute', item: '60', allowed: '0 to 59' }],
  ['0 9-24 * * *', { kind: 'bad_value', field: 'hour', item: '24', allowed: '0 to 23' }],
  ['0 9 0 * *', { kind: 'bad_value', field: 'day of month', item: '0', allowed: '1 to 31' }],
  ['0 9 * SEPT *', { kind: 'bad_value', field: 'month', item: 'SEPT', allowed: '1 to 12, JAN to DEC' }],
  ['0 9 * * 1,8', { kind: 'bad_value', field: 'day of week', item: '8', allowed: '0 to 7, SUN to SAT' }],
  [
    '0 9 * * 1-2-3',
    { kind: 'bad_value', field: 'day of week', item: '1-2-3', allowed: '0 to 7, SUN to SAT' },
  ],
  ['-5 * * * *', { kind: 'bad_value', field: 'minute', item: '-5', allowed: '0 to 59' }],
  ['CRON_TZ=Asia/Tokyo 0 9 * * *', { kind: 'zone', text: 'CRON_TZ=Asia/Tokyo' }],
  ['tz=UTC 0 9 * *', { kind: 'zone', text: 'tz=UTC' }],
  ['0 9 * * FRI-MON', { kind: 'reversed', field: 'day of week', item: 'FRI-MON' }],
  ['50-10/5 * * * *', { kind: 'reversed', field: 'minute', item: '50-10' }],
  ['*/0 * * * *', { kind: 'bad_step', field: 'minute', item: '*/0' }],
  ['*/5/2 * * * *', { kind: 'bad_step', field: 'minute', item: '*/5/2' }],
  ['0,,5 * * * *', { kind: 'empty_item', field: 'minute' }],
  ['0 9 L * *', { kind: 'extension', field: 'day of month', item: 'L' }],
  ['0 9 15W * *', { kind: 'extension', field: 'day of month', item: '15W' }],
  ['0 9 * * MON#2', { kind: 'extension', field: 'day of week', item: 'MON#2' }],
  ['0 9 ? * MON', { kind: 'extension', field: 'day of month', item: '?' }],
  ['0 9 * * FRIL', { kind: 'extension', field: 'day of week', item: 'FRIL' }],
  [`0 9 * * ${'1,'.repeat(600)}1`, { kind: 'too_long', charactersMax: 1_000 }],
])('%j has the expected fault', (text, fault) => {
  expect(cronFault(text)).toEqual(fault);
});

test.each([
  ['x * * * *', (value: number) => `${value} * * * *`],
  ['* * x * *', (value: number) => `* * ${value} * *`],
  ['* * * * x', (value: number) => `* * * * ${value}`],
])('the bounds that %s is told are those of the parser', (text, write) => {
  const fault = cronFault(text);
  const [first = '', last = ''] = fault?.kind === 'bad_value' ? (fault.allowed.match(/\d+/g) ?? []) : [];
  const accepted = [Number(first) - 1, Number(first), Number(last), Number(last) + 1].map(
    (value) => parseCron(write(value)) !== null,
  );
  expect(accepted).toEqual([false, true, true, false]);
});

test('there is a fault exactly when the expression is refused or has no date', () => {
  const item = fc.stringMatching(/^[0-9*LW#?A-Z,/-]{0,6}$/);
  const expression = fc.array(item, { minLength: 4, maxLength: 6 }).map((fields) => fields.join(' '));
  fc.assert(
    fc.property(expression, (text) => {
      expect(cronFault(text) === null).toBe(parseCron(text)?.possible === true);
    }),
  );
});
