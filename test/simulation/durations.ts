/** The few forms of duration the simulation uses, in milliseconds. */
const UNITS: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 };

export function ms(duration: string): number {
  const [, count, unit = ''] = /^(\d+)(ms|s|m|h)$/.exec(duration) ?? [];
  const scale = UNITS[unit];
  if (count === undefined || scale === undefined) throw new Error(`No duration of ours: ${duration}.`);
  return Number(count) * scale;
}
