/** Compares what is stored with what a customer wants, field by field. */
import type { Labels } from './labels.ts';
import type { RetryPolicy } from './retry.ts';

/** The fields of an object by their names in the API, as values that `===` compares. */
export type Comparable = Readonly<Record<string, string | number | boolean | null>>;

/** Returns the names of the fields that differ. */
export function differing(one: Comparable, other: Comparable): readonly string[] {
  return Object.keys(other).filter((field) => one[field] !== other[field]);
}

export function comparablePolicy(policy: RetryPolicy | null): string | null {
  if (policy === null) return null;
  const { maxAttempts, strategy, base, factor, max, jitter } = policy;
  return JSON.stringify([maxAttempts, strategy, base, factor, max, jitter]);
}

/** The order of labels and headers has no meaning. */
export function comparableLabels(labels: Labels): string {
  return JSON.stringify(labels.toSorted(([one], [other]) => (one < other ? -1 : 1)));
}
