/**
 * The filters of every list. The service ignores a filter that it does not know, so a misspelt one would list
 * everything. TypeScript finds it; a JavaScript caller gets a sentence that names the filter that was meant.
 */
import type * as Api from '../api-types.ts';

/** The compiler asks for every name of the query, and for no other. */
type NamesOf<Query> = { readonly [Name in keyof Query]-?: true };

const PAGE = { cursor: true, limit: true } as const;

export const FILTERS = {
  'schedules.list': {
    ...PAGE,
    state: true,
    kind: true,
    metadata: true,
  } satisfies NamesOf<Api.ListSchedulesQuery>,
  'schedules.deliveries': PAGE satisfies NamesOf<Api.ListScheduleDeliveriesQuery>,
  'endpoints.list': { ...PAGE, include_archived: true } satisfies NamesOf<Api.ListEndpointsQuery>,
  'deliveries.list': {
    ...PAGE,
    status: true,
    schedule_id: true,
    created_after: true,
    created_before: true,
  } satisfies NamesOf<Api.ListDeliveriesQuery>,
  'deliveries.attempts': PAGE satisfies NamesOf<Api.ListAttemptsQuery>,
} as const;

/** The name of a call that lists. */
export type ListName = keyof typeof FILTERS;

const SHOWN_CHARACTERS_MAX = 40;

export function checkFilters(call: ListName, query: object): void {
  const known = Object.keys(FILTERS[call]);
  const unknown = Object.keys(query).find((name) => !known.includes(name));
  if (unknown === undefined) return;
  const shown = unknown.slice(0, SHOWN_CHARACTERS_MAX);
  const meant = nearest(shown, known);
  const hint = meant === undefined ? '' : ` Did you mean "${meant}"?`;
  throw new TypeError(
    `${call} has no filter ${JSON.stringify(shown)}.${hint} The filters are ${listed(known)}.`,
  );
}

function listed(names: readonly string[]): string {
  return `${names.slice(0, -1).join(', ')} and ${names.at(-1)}`;
}

/** A name may have one mistake in three characters. A name that begins with another is taken for it too. */
function nearest(text: string, names: readonly string[]): string | undefined {
  const wanted = plain(text);
  const [best] = names
    .map((name) => ({ name, mistakes: mistakesIn(wanted, plain(name)) }))
    .sort((one, other) => one.mistakes - other.mistakes);
  if (best !== undefined && best.mistakes <= wanted.length / 3) return best.name;
  return names.find((name) => wanted.startsWith(plain(name)));
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
