import { expect, it } from 'vitest';
import { describeCron } from './describe-cron.ts';

it.each([
  ['* * * * *', 'Every minute'],
  ['*/5 * * * *', 'Every 5 minutes'],
  ['0 * * * *', 'Every hour'],
  ['15,45 * * * *', 'Every hour at :15 and :45'],
  ['30 */2 * * *', 'Every 2 hours at :30'],
  ['0 9 * * *', 'Every day at 09:00'],
  ['0 9,18 * jun *', 'Every day at 09:00 and 18:00, in June'],
  ['0 9 * * MON-FRI', 'At 09:00, Monday to Friday'],
  ['30 8,17 * * 1', 'At 08:30 and 17:30, Monday'],
  ['*/10 9-17 * * 1-5', 'Every 10 minutes from 09:00 to 17:59, Monday to Friday'],
  ['0 0 1 * *', 'At 00:00, on the 1st'],
  ['0 0 31 jan,mar *', 'At 00:00, on the 31st, in January and March'],
  ['0 6 1,22,13 * *', 'At 06:00, on the 1st, 22nd and 13th'],
  ['0 12 13 * FRI', 'At 12:00, on the 13th and on every Friday'],
  ['  0   0 * * 7 ', 'At 00:00, Sunday'],
])('%s is %s', (expression, words) => expect(describeCron(expression)).toBe(words));

it.each([
  '',
  '0 9 * *',
  '99 9 * * *',
  '0 9 32 * *',
  '0 9 * 13 *',
  '0 9 * * MONDAY',
  '0 9 * * 1-3-5',
  '1-5/2 9 * * *',
  '*/0 * * * *',
  '0,1,2,3,4,5 9 * * *',
])('does not describe "%s"', (expression) => expect(describeCron(expression)).toBeNull());
