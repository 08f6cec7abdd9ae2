/** The first request a developer makes: a delivery to the inbox, two seconds from now. */
import { hookUrl } from '#src/inbox/inbox.ts';
import { DEV_TEST_KEY } from './keys.ts';

export interface FirstRequest {
  readonly key: string;
  readonly body: { readonly endpoint: string; readonly delay: string; readonly body: string };
}

export function firstRequest(url: string): FirstRequest {
  return {
    key: DEV_TEST_KEY,
    body: { endpoint: hookUrl(url), delay: '2s', body: JSON.stringify({ hello: 'world' }) },
  };
}

/** For sh, bash and zsh, to which the brackets of an IPv6 address are a pattern. Single quotes do for all of it. */
export function firstCurl(url: string): string {
  const { key, body } = firstRequest(url);
  return [
    `curl '${url}/v1/schedules' \\`,
    `  -H 'Authorization: Bearer ${key}' \\`,
    `  -H 'Content-Type: application/json' \\`,
    `  -d '${JSON.stringify(body)}'`,
  ].join('\n');
}
