/** Names the kind of a value for an error message. It never quotes the value, which may be a key or a body. */
export function describeValue(value: unknown): string {
  if (value === null || value === undefined) return String(value);
  if (value === '') return 'an empty text';
  if (typeof value === 'string') return 'a text';
  if (Array.isArray(value)) return 'an array';
  if (typeof value !== 'object') return `a ${typeof value}`;
  if (typeof (value as { readonly then?: unknown }).then === 'function') return 'a promise (await it first)';
  return value instanceof Date ? 'a Date' : 'an object';
}

/** Whether the value can hold named fields. An array, a Date and a promise cannot. */
export function isFields<T>(value: T): value is T & Readonly<Record<string, unknown>> {
  return typeof value === 'object' && describeValue(value) === 'an object';
}
