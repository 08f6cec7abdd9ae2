/** Parses the few forms of duration that the simulation uses into milliseconds. */
const UNITS: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 };

export function ms(duration: string): number {
  const [, count, unit = ''] = /^(\d+)(ms|s|m|h)$/.exec(duration) ?? [];
  const scale = UNITS[unit];
  if (count === undefined || scale === undefined)
    throw new Error(`Not a duration that the simulation knows: ${duration}.`);
  return Number(count) * scale;
}
