/**
 * The query of a destination's URL is often a credential. People who only look are shown `https://a.example/hook?…`.
 * There is no user info to hide: such a URL is refused as a destination.
 */
import { mayAct, type Role } from './role.ts';

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
