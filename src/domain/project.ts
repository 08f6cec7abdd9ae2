/** Test and live data never meet: everything a customer owns belongs to one (project, mode). */
export const MODES = ['test', 'live'] as const;
export type Mode = (typeof MODES)[number];

/** The number of one (project, mode); the first part of every stored key. */
export type Partition = number & { readonly __brand: 'Partition' };

/** Dated interface versions, oldest first. A breaking change adds one; a project stays with the one it was created under. */
export const VERSIONS: readonly [string, ...string[]] = ['2026-11-15'];

export const CURRENT_VERSION: string = VERSIONS.at(-1) ?? VERSIONS[0];

const DATE = /^(\d{4})-(\d{2})-(\d{2})$/;

/** The version that serves a request asking for `date`: the newest not after it, or the first. Null: no real date. */
export function versionFor(date: string): string | null {
  if (VERSIONS.includes(date)) return date;
  const [, year, month, day] = DATE.exec(date) ?? [];
  if (year === undefined) return null;
  const at = new Date(Date.UTC(2000, 0, 1));
  at.setUTCFullYear(Number(year), Number(month) - 1, Number(day));
  if (at.getUTCMonth() !== Number(month) - 1 || at.getUTCDate() !== Number(day)) return null;
  return VERSIONS.findLast((version) => version <= date) ?? VERSIONS[0];
}
