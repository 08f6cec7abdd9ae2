/**
 * Checks values from JSON field by field. Fields beyond the listed ones are allowed: a newer service may send more. A
 * field that a later version of the service began to send must not be listed, because an older service does not send it.
 */
import { isFields } from '../describe-value.ts';

/** A question mark allows null. */
type Kind = 'string' | 'number' | 'boolean' | 'string?' | 'number?';

type NameOf<V> = [V] extends [string]
  ? 'string'
  : [V] extends [number]
    ? 'number'
    : [V] extends [boolean]
      ? 'boolean'
      : never;
type KindOf<V> = null extends V ? `${NameOf<NonNullable<V>>}?` : NameOf<V>;

/** The kinds of those fields of `T` that are no objects. */
export type Kinds<T> = { readonly [K in keyof T]?: KindOf<T[K]> };

export function hasFields(
  value: unknown,
  kinds: Readonly<Record<string, Kind>>,
): value is Readonly<Record<string, unknown>> {
  return isFields(value) && Object.entries(kinds).every(([name, kind]) => isOfKind(value[name], kind));
}

function isOfKind(value: unknown, kind: Kind): boolean {
  return kind.endsWith('?') ? value === null || typeof value === kind.slice(0, -1) : typeof value === kind;
}

/** Returns false if the check throws, as it does for a proxy that throws. */
export function holds(check: () => boolean): boolean {
  try {
    return check();
  } catch {
    return false;
  }
}
