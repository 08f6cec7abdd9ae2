/**
 * The customers of the workload `neighbour`. The healthy customer has the project `default`. Each hostile customer has
 * a project and a key of its own. Some of them have deliveries that become due during the measurement, some call the
 * API, and some do both.
 */

export const HOSTILE = [
  'hanging-bodies',
  'large-json',
  'paths',
  'filters',
  'creates',
  'burst',
  'cancel',
  'lists',
] as const;
export type Hostile = (typeof HOSTILE)[number];

export const BESIDE = ['alone', ...HOSTILE, 'all'] as const;
/** The customers beside the healthy one during a measurement. */
export type Beside = (typeof BESIDE)[number];

/** Customers whose deliveries become due during the measurement. */
export const FIRING = [
  'hanging-bodies',
  'large-json',
  'paths',
  'burst',
] as const satisfies readonly Hostile[];
export type Firing = (typeof FIRING)[number];

/** Customers that call the API. */
export const CALLING = ['filters', 'creates', 'cancel', 'lists'] as const satisfies readonly Hostile[];
export type Calling = (typeof CALLING)[number];

/** Customers that have a receiver of their own. */
export const RECEIVING = [...FIRING, 'cancel'] as const satisfies readonly Hostile[];
export type Receiving = (typeof RECEIVING)[number];

/** The largest body that the API accepts: the maximum of characters, with three bytes each. */
export const LARGE_BODY = '€'.repeat(262_144);

export function hostileOf(beside: Beside): readonly Hostile[] {
  if (beside === 'alone') return [];
  return beside === 'all' ? HOSTILE : [beside];
}

export function among<T extends Hostile>(some: readonly T[], customers: readonly Hostile[]): readonly T[] {
  return some.filter((one) => customers.includes(one));
}
