/**
 * The address bar as a signal. Every filter of a page is in the query, so that every view can be shared as a link. Links
 * are plain `<a href>`, and one listener handles those inside the dashboard without loading the page again.
 */
import { computed, signal } from '@preact/signals';

export const BASE = '/dashboard';

export type Params = Readonly<Record<string, string>>;

function readAddress(): URL {
  return new URL(globalThis.location?.href ?? `http://localhost${BASE}/`);
}

const address = signal(readAddress());

/** The path below the base, without slashes at the ends, such as `p/default/test/schedules`. */
export const path = computed(() => pathBelow(address.value.pathname));
export const query = computed(() => address.value.searchParams);

export function pathBelow(pathname: string): string {
  return pathname.startsWith(BASE) ? pathname.slice(BASE.length).replaceAll(/^\/+|\/+$/g, '') : '';
}

/** The `href` of a page of the dashboard: `hrefTo('settings/account')`. */
export function hrefTo(below: string): string {
  return `${BASE}/${below}`;
}

export function navigate(href: string, options: { readonly replace?: boolean } = {}): void {
  if (options.replace === true) history.replaceState(null, '', href);
  else history.pushState(null, '', href);
  address.value = readAddress();
}

/** Changes parts of the query. Null and '' remove a part. A filter replaces the entry in the history by default. */
export function setQuery(
  changes: Readonly<Record<string, string | null>>,
  options: { readonly replace?: boolean } = { replace: true },
): void {
  navigate(withQuery(address.value, changes), options);
}

export function withQuery(url: URL, changes: Readonly<Record<string, string | null>>): string {
  const search = new URLSearchParams(url.searchParams);
  for (const [name, value] of Object.entries(changes)) {
    if (value === null || value === '') search.delete(name);
    else search.set(name, value);
  }
  const text = search.toString();
  return text === '' ? url.pathname : `${url.pathname}?${text}`;
}

/** Matches a path with a pattern such as `p/:project/:mode`. Returns the decoded names, or null. */
export function match(pattern: string, at: string): Params | null {
  const [wanted, given] = [pattern.split('/'), at.split('/')];
  if (wanted.length !== given.length) return null;
  const params: Record<string, string> = {};
  for (const [index, part] of wanted.entries()) {
    const text = given[index] ?? '';
    if (!part.startsWith(':')) {
      if (part !== text) return null;
      continue;
    }
    const value = decode(text);
    if (value === null || value === '') return null;
    params[part.slice(1)] = value;
  }
  return params;
}

function decode(text: string): string | null {
  try {
    return decodeURIComponent(text);
  } catch {
    return null;
  }
}

/** The target of a click inside the dashboard. Null: the browser handles the click. */
function targetInside(event: MouseEvent): string | null {
  if (event.defaultPrevented || event.button !== 0) return null;
  if (event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return null;
  const link = (event.target as Element | null)?.closest?.('a[href]');
  if (!(link instanceof HTMLAnchorElement) || link.target !== '' || link.hasAttribute('download'))
    return null;
  const isOwn = link.origin === location.origin && link.pathname.startsWith(`${BASE}/`);
  return isOwn && link.hash === '' ? link.pathname + link.search : null;
}

export function listenToAddress(): void {
  addEventListener('popstate', () => {
    address.value = readAddress();
  });
  document.addEventListener('click', (event) => {
    const target = targetInside(event);
    if (target === null) return;
    event.preventDefault();
    navigate(target);
  });
}
