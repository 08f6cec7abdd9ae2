/** Durations as the API writes them: `1h30m`, `200ms`, `720h0m0s`. */
import { formatMs } from './format.ts';

const UNITS_MS: Readonly<Record<string, number>> = {
  ns: 1e-6,
  us: 1e-3,
  µs: 1e-3,
  ms: 1,
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
};
const PART = /(\d+\.?\d*|\.\d+)(ns|us|µs|ms|s|m|h)/g;

/** The length of a duration in milliseconds. Null: the text is not a duration. */
export function parseDuration(text: string): number | null {
  const trimmed = text.trim();
  if (trimmed === '0') return 0;
  if (trimmed === '' || trimmed.replace(PART, '') !== '') return null;
  return [...trimmed.matchAll(PART)].reduce(
    (sum, [, amount, unit = '']) => sum + Number(amount) * (UNITS_MS[unit] ?? 0),
    0,
  );
}

/** A duration in the units of the page, such as `30 d`; a text that is not a duration is shown as it is. */
export function formatDuration(text: string): string {
  const ms = parseDuration(text);
  return ms === null ? text : formatMs(ms);
}
