/** What a person may do in the dashboard. Each role may do all that the ones before it may. */
export const ROLES = ['viewer', 'operator', 'admin'] as const;
export type Role = (typeof ROLES)[number];

/**
 * A viewer looks. An operator also changes schedules, endpoints and deliveries. An admin also manages projects,
 * keys, secrets and people, and may see header values and bodies.
 */
export function mayAct(role: Role, needed: Role): boolean {
  return ROLES.indexOf(role) >= ROLES.indexOf(needed);
}

/** This text replaces the query. */
export const HIDDEN_QUERY = '…';

const BEGIN_OF_URL = '://';

export function maySeeQueries(role: Role): boolean {
  return mayAct(role, 'operator');
}

/**
 * All that follows the question mark of a URL is hidden, to the end of the text: it cannot be told where a URL ends
 * that somebody wrote with spaces in it.
 */
export function withHiddenQuery(text: string): string {
  const begin = text.indexOf(BEGIN_OF_URL);
  const query = begin < 0 ? -1 : text.indexOf('?', begin);
  return query < 0 ? text : `${text.slice(0, query + 1)}${HIDDEN_QUERY}`;
}
