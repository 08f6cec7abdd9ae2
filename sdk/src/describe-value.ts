/** Names the kind of a value for an error message. It never quotes the value, which may be a key or a body. */
export function describeValue(value: unknown): string {
  if (value === null || value === undefined) return String(value);
  if (value === '') return 'an empty text';
  if (typeof value === 'string') return 'a text';
  if (Array.isArray(value)) return 'an array';
  if (typeof value !== 'object') return `a ${typeof value}`;
  if (typeof (value as { readonly then?: unknown }).then === 'function') return 'a promise (await it first)';
  if (isDate(value)) return 'a Date';
  return ArrayBuffer.isView(value) || value instanceof ArrayBuffer ? 'bytes' : 'an object';
}

/** A Date of another realm, such as a frame of a page, is a Date too. */
export function isDate(value: unknown): value is Date {
  return Object.prototype.toString.call(value) === '[object Date]';
}

/** Whether the value can hold named fields. An array, a Date, bytes and a promise cannot. */
export function isFields<T>(value: T): value is T & Readonly<Record<string, unknown>> {
  return typeof value === 'object' && describeValue(value) === 'an object';
}
