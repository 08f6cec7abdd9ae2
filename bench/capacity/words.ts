/** Numbers as text. */

const UNITS = ['bytes', 'KB', 'MB', 'GB', 'TB', 'PB'] as const;
const UNIT_STEP = 1_000;
const DIGITS = 2;

/** Rounds to two significant digits, or to a whole number above 100. */
export function numberText(value: number): string {
  if (!Number.isFinite(value)) return 'any number';
  const rounded = value >= 100 ? Math.round(value) : Number(value.toPrecision(DIGITS));
  return rounded.toLocaleString('en-US');
}

/** Rounds to two significant digits, because a rate that is calculated is no more exact than that. */
export function rateText(rate: number): string {
  if (!Number.isFinite(rate)) return 'never';
  return Number(rate.toPrecision(DIGITS)).toLocaleString('en-US');
}

export function bytesText(bytes: number): string {
  let value = bytes;
  let unit = 0;
  while (value >= UNIT_STEP && unit < UNITS.length - 1) {
    value /= UNIT_STEP;
    unit++;
  }
  return `${numberText(value)} ${UNITS[unit]}`;
}
