/**
 * The customers of the work `neighbour`. The healthy one has the project `default`. Each hostile one has a project
 * and a key of its own. Some have stored what becomes due while the healthy one is measured, some ask, some do both.
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
/** These are there while the healthy customer is measured. */
export type Beside = (typeof BESIDE)[number];

/** These have deliveries that become due. */
export const FIRING = [
  'hanging-bodies',
  'large-json',
  'paths',
  'burst',
] as const satisfies readonly Hostile[];
export type Firing = (typeof FIRING)[number];

/** These make requests of the API. */
export const CALLING = ['filters', 'creates', 'cancel', 'lists'] as const satisfies readonly Hostile[];
export type Calling = (typeof CALLING)[number];

/** These have a receiver of their own. */
export const RECEIVING = [...FIRING, 'cancel'] as const satisfies readonly Hostile[];
export type Receiving = (typeof RECEIVING)[number];

/** The API takes no larger body: it has the most characters, of three bytes each. */
export const LARGE_BODY = '€'.repeat(262_144);

export function hostileOf(beside: Beside): readonly Hostile[] {
  if (beside === 'alone') return [];
  return beside === 'all' ? HOSTILE : [beside];
}

export function among<T extends Hostile>(some: readonly T[], customers: readonly Hostile[]): readonly T[] {
  return some.filter((one) => customers.includes(one));
}
