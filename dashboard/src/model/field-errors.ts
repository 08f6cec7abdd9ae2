/** Errors at the fields of a form. */

/** Errors by the name of the field in the API, which is the `param` of an error. */
export type FieldErrors = Readonly<Record<string, string>>;

/**
 * The index of the first name that the message contains, so that one of several inputs gets the focus. A message that
 * contains none is about a name that is missing, or about the first.
 */
export function indexNamedIn(message: string, names: readonly string[]): number {
  const words = message.split(/[^\w-]+/);
  const isNamed = (name: string) =>
    name !== '' && (words.includes(name) || (/[^\w-]/.test(name) && message.includes(name)));
  const named = names.findIndex(isNamed);
  return named >= 0 ? named : Math.max(0, names.indexOf(''));
}
