/** Numbers and texts for people. */
const WHOLE = new Intl.NumberFormat('en-GB');
/** The US format has capital letters: `2M` cannot be read as two minutes. */
const COMPACT = new Intl.NumberFormat('en-US', { notation: 'compact', maximumFractionDigits: 1 });

export function formatCount(value: number): string {
  return WHOLE.format(value);
}

/** A short number for tiles and axes, such as 12.4K. Numbers below 10,000 are exact. */
export function formatCompact(value: number): string {
  return Math.abs(value) < 10_000 ? WHOLE.format(value) : COMPACT.format(value);
}

export function plural(value: number, one: string, many = `${one}s`): string {
  return `${formatCount(value)} ${value === 1 ? one : many}`;
}

/** A percentage such as `99.95%`. It is never rounded up to 100% or down to 0%. */
export function formatPercent(part: number, whole: number): string {
  if (whole === 0) return '–';
  const share = (part / whole) * 100;
  if (share > 0 && share < 0.1) return '<0.1%';
  if (share < 100 && share > 99.99) return '>99.99%';
  const digits = share === 100 || share === 0 ? 0 : share > 99 ? 2 : 1;
  return `${share.toFixed(digits)}%`;
}

const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;
const DAY_MS = 86_400_000;

/** A time span, such as `0.4 ms`, `12 ms`, `1.25 s`, `3 min 5 s`, `2 h 10 min`, `3 d`. */
export function formatMs(ms: number): string {
  if (ms < 10) return `${Number(ms.toFixed(1))} ms`;
  if (ms < 1_000) return `${Math.round(ms)} ms`;
  if (ms < MINUTE_MS) return `${Number((ms / 1_000).toFixed(ms < 10_000 ? 2 : 1))} s`;
  if (ms < HOUR_MS) return twoUnits(ms, MINUTE_MS, 'min', 1_000, 's');
  if (ms < DAY_MS) return twoUnits(ms, HOUR_MS, 'h', MINUTE_MS, 'min');
  return twoUnits(ms, DAY_MS, 'd', HOUR_MS, 'h');
}

function twoUnits(ms: number, big: number, bigUnit: string, small: number, smallUnit: string): string {
  const whole = Math.floor(ms / big);
  const rest = Math.floor((ms % big) / small);
  return rest === 0 ? `${whole} ${bigUnit}` : `${whole} ${bigUnit} ${rest} ${smallUnit}`;
}

export function formatBytes(value: number): string {
  if (value < 1_024) return plural(value, 'byte');
  if (value < 1_048_576) return `${Number((value / 1_024).toFixed(1))} KB`;
  return `${Number((value / 1_048_576).toFixed(1))} MB`;
}

/** A long text keeps its beginning and its end, where texts differ. */
export function truncateMiddle(text: string, charactersMax: number): string {
  const characters = Array.from(text);
  if (characters.length <= charactersMax) return text;
  const tail = Math.floor((charactersMax - 1) * 0.4);
  const head = charactersMax - 1 - tail;
  return `${characters.slice(0, head).join('')}…${characters.slice(characters.length - tail).join('')}`;
}
