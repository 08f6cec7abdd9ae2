/** Names the kind of a value for an error message. It never quotes the value, which may be a key or a body. */
export function describeValue(value: unknown): string {
  if (value === null || value === undefined) return String(value);
  if (value === '') return 'an empty text';
  if (typeof value === 'string') return 'a text';
  if (Array.isArray(value)) return 'an array';
  if (typeof value !== 'object') return `a ${typeof value}`;
  if (typeof (value as { readonly then?: unknown }).then === 'function') return 'a promise (await it first)';
  if (isDate(value)) return 'a Date';
  if (isIterable(value) && !ArrayBuffer.isView(value))
    return 'an iterable (convert it with Object.fromEntries)';
  return ArrayBuffer.isView(value) || value instanceof ArrayBuffer ? 'bytes' : 'an object';
}

/** A Date of another realm, such as a frame of a page, is a Date too. */
export function isDate(value: unknown): value is Date {
  return Object.prototype.toString.call(value) === '[object Date]';
}

/** A `Map` or `Headers` has no fields of its own, so its entries would be lost. */
export function isIterable(value: object): boolean {
  return typeof (value as Partial<Iterable<unknown>>)[Symbol.iterator] === 'function';
}

/** Whether the value has named fields. An array, a Map, a Date, bytes and a promise have none. */
export function isFields<T>(value: T): value is T & Readonly<Record<string, unknown>> {
  return typeof value === 'object' && describeValue(value) === 'an object';
}
