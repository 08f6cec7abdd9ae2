/** Everything that a customer owns belongs to one mode of one project. Test and live data never mix. */
export const MODES = ['test', 'live'] as const;
export type Mode = (typeof MODES)[number];

/** The project that exists from the first start. */
export const DEFAULT_PROJECT = 'default';

/** The number of one mode of one project. It is the first part of every stored key. */
export type Partition = number & { readonly __brand: 'Partition' };

/**
 * The versions of the API by date, oldest first. A breaking change adds a version. A project keeps the version that was
 * current when it was created.
 */
export const VERSIONS: readonly [string, ...string[]] = ['2026-11-15'];

export const CURRENT_VERSION: string = VERSIONS.at(-1) ?? VERSIONS[0];

const DATE = /^(\d{4})-(\d{2})-(\d{2})$/;

/**
 * Returns the version for a request with this date: the newest that is not later, or the first one. Returns null when
 * the text is not a real date.
 */
export function versionFor(date: string): string | null {
  if (VERSIONS.includes(date)) return date;
  const [, year, month, day] = DATE.exec(date) ?? [];
  if (year === undefined) return null;
  const at = new Date(Date.UTC(2000, 0, 1));
  at.setUTCFullYear(Number(year), Number(month) - 1, Number(day));
  if (at.getUTCMonth() !== Number(month) - 1 || at.getUTCDate() !== Number(day)) return null;
  return VERSIONS.findLast((version) => version <= date) ?? VERSIONS[0];
}
