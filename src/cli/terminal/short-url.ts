/**
 * Shortens a URL for a narrow column. The host and the end of the path tell one destination from another, so they are
 * kept for as long as possible. The scheme goes first, then the query, then the middle of the path.
 *
 *     https://hooks.example.com/v1/tenants/acme/invoices?token=1
 *     hooks.example.com/…/acme/invoices?…
 */
import { cutMiddle, cutStart, widthOf } from './width.ts';

const PARTS = /^(?:https?:\/\/)?([^/?#]*)([^?#]*)(.*)$/i;
/** A host that takes more than this share of the space is cut too. */
const HOST_SHARE_MAX = 0.75;

export function shortUrl(url: string, cells: number): string {
  const [, host = '', path = '', rest = ''] = PARTS.exec(url) ?? [];
  const end = rest === '' ? path : `${path}${rest[0]}…`;
  const whole = [host + path + rest, host + end].find((text) => widthOf(text) <= cells);
  if (whole !== undefined) return whole;
  if (widthOf(host) > cells * HOST_SHARE_MAX) return cutMiddle(host + end, cells);
  return host + shortPath(end, cells - widthOf(host));
}

/** Keeps as many whole segments as fit: `/…/acme/invoices`. If none fits, it keeps the end of the last one. */
function shortPath(path: string, cells: number): string {
  let kept: string | null = null;
  for (let at = path.lastIndexOf('/'); at >= 0; at = at === 0 ? -1 : path.lastIndexOf('/', at - 1)) {
    const longer = `/…${path.slice(at)}`;
    if (widthOf(longer) > cells) break;
    kept = longer;
  }
  return kept ?? `/${cutStart(path, cells - 1)}`;
}
