/** `720h0m0s` as people say it: `30 days`. What cannot be read is shown as it is. */
import { plural } from './format.ts';

const PARTS = /^(?:(\d+)h)?(?:(\d+)m)?(?:(\d+)s)?$/;
const HOURS_A_DAY = 24;

export function goDurationWords(text: string): string {
  const [whole, hours = '0', minutes = '0', seconds = '0'] = PARTS.exec(text) ?? [];
  if (whole === undefined || whole === '') return text;
  const days = Math.floor(Number(hours) / HOURS_A_DAY);
  const parts = [
    [days, 'day'],
    [Number(hours) % HOURS_A_DAY, 'hour'],
    [Number(minutes), 'minute'],
    [Number(seconds), 'second'],
  ] as const;
  const words = parts.flatMap(([value, unit]) => (value === 0 ? [] : [plural(value, unit)]));
  return words.length === 0 ? 'no time' : words.join(' ');
}
