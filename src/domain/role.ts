/** The roles of people in the dashboard. Each role includes all roles before it. */
export const ROLES = ['viewer', 'operator', 'admin'] as const;
export type Role = (typeof ROLES)[number];

/**
 * A viewer reads. An operator also changes schedules, endpoints and deliveries. An admin also manages projects, keys,
 * secrets and people, and may see header values and bodies.
 */
export function mayAct(role: Role, needed: Role): boolean {
  return ROLES.indexOf(role) >= ROLES.indexOf(needed);
}

/**
 * Replaces the query of a URL. The query is often a credential, so viewers see `https://a.example/hook?…`. There is no
 * user info to hide, because such a URL is refused as a destination.
 */
export const HIDDEN_QUERY = '…';

const BEGIN_OF_URL = '://';

export function maySeeQueries(role: Role): boolean {
  return mayAct(role, 'operator');
}

/**
 * Hides everything after the question mark of a URL, to the end of the text. The end of a URL with spaces in it is not
 * known.
 */
export function withHiddenQuery(text: string): string {
  const begin = text.indexOf(BEGIN_OF_URL);
  const query = begin < 0 ? -1 : text.indexOf('?', begin);
  return query < 0 ? text : `${text.slice(0, query + 1)}${HIDDEN_QUERY}`;
}
