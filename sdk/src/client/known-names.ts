/**
 * Refuses a name that does not exist. A misspelt filter or option would have no effect, and nobody would notice.
 * TypeScript finds it; a JavaScript caller gets a sentence that names what was meant.
 */

/** The compiler asks for every name of a type, and for no other. */
export type NamesOf<T> = { readonly [Name in keyof T]-?: true };

const SHOWN_CHARACTERS_MAX = 40;

/** `owner` is how the caller writes it, and `kind` is what it has: a filter or an option. */
export function checkNames(
  owner: string,
  kind: 'filter' | 'option',
  given: object,
  known: readonly string[],
): void {
  const unknown = Object.keys(given).find((name) => !known.includes(name));
  if (unknown === undefined) return;
  const shown = unknown.slice(0, SHOWN_CHARACTERS_MAX);
  const meant = nearest(shown, known);
  const hint = meant === undefined ? '' : ` Did you mean "${meant}"?`;
  throw new TypeError(
    `${owner} has no ${kind} ${JSON.stringify(shown)}.${hint} The ${kind}s are ${listed(known)}.`,
  );
}

function listed(names: readonly string[]): string {
  return `${names.slice(0, -1).join(', ')} and ${names.at(-1)}`;
}

/** A name may have one mistake in three characters. A name that begins or ends with another is taken for it too. */
function nearest(text: string, names: readonly string[]): string | undefined {
  const wanted = plain(text);
  const [best] = names
    .map((name) => ({ name, mistakes: mistakesIn(wanted, plain(name)) }))
    .sort((one, other) => one.mistakes - other.mistakes);
  if (best !== undefined && best.mistakes <= wanted.length / 3) return best.name;
  return names.find((name) => wanted.startsWith(plain(name)) || wanted.endsWith(plain(name)));
}

/** `scheduleId`, `schedule-id` and `schedule_id` are the same name. */
function plain(name: string): string {
  return name.toLowerCase().replaceAll(/[^a-z]/g, '');
}

/** The number of characters to insert, remove or replace. */
function mistakesIn(one: string, other: string): number {
  let above = Array.from({ length: other.length + 1 }, (_, column) => column);
  for (let row = 0; row < one.length; row++) {
    const current = [row + 1];
    for (let column = 0; column < other.length; column++) {
      const replaced = (above[column] ?? 0) + (one[row] === other[column] ? 0 : 1);
      current.push(Math.min(replaced, (above[column + 1] ?? 0) + 1, (current[column] ?? 0) + 1));
    }
    above = current;
  }
  return above.at(-1) ?? 0;
}
