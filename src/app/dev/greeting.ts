/** The text that `sched dev` prints when it has started, with a first request to paste. */
import { curlCommand } from '#src/api/home.ts';
import { hookUrl, pageUrl } from '#src/inbox/inbox.ts';
import { DEV_LIVE_KEY, DEV_SIGNING_SECRET, DEV_TEST_KEY, DEV_URL } from './keys.ts';
import type { Paint } from './terminal-line.ts';

export interface GreetingOptions {
  /** Null if the data is deleted at the end. */
  readonly dataDir: string | null;
  /** Names of settings that are set but ignored. */
  readonly ignored: readonly string[];
}

export function greeting(url: string, { dataDir, ignored }: GreetingOptions, paint: Paint): string {
  const rows = [
    ['inbox', pageUrl(url)],
    ['dashboard', `${url}/dashboard`],
    ['receiver', hookUrl(url)],
    ['API', `${url}/v1`],
    ['reference', `${url}/docs`],
    ['command line', `${url === DEV_URL ? '' : `SCHED_URL=${url} `}sched schedules list`],
    ['test key', DEV_TEST_KEY],
    ['live key', DEV_LIVE_KEY],
    ['signing secret', DEV_SIGNING_SECRET],
    ['data', dataDir ?? 'deleted when this process ends; keep it with --data-dir DIR'],
  ] as const;
  const width = Math.max(...rows.map(([label]) => label.length));
  const lines = rows.map(([label, value]) => `  ${paint('dim', label.padEnd(width))}  ${value}`);
  const notice =
    ignored.length === 0
      ? []
      : ['', `${paint('yellow', 'These settings are ignored by sched dev:')} ${ignored.join(', ')}`];
  return [
    '',
    ...lines,
    ...notice,
    '',
    'Paste this to get a first delivery in two seconds:',
    '',
    paint('cyan', firstCurl(url)),
    '',
    paint('dim', 'Every attempt is printed below. Press Ctrl-C to stop.'),
    '',
    '',
  ].join('\n');
}

export interface FirstRequest {
  readonly key: string;
  readonly body: { readonly endpoint: string; readonly delay: string; readonly body: string };
}

/** Creates a delivery to the inbox, two seconds from now. */
export function firstRequest(url: string): FirstRequest {
  return {
    key: DEV_TEST_KEY,
    body: { endpoint: hookUrl(url), delay: '2s', body: JSON.stringify({ hello: 'world' }) },
  };
}

/** `origin` is the address that the command uses. With a forwarded port it differs from the service's own. */
export function firstCurl(url: string, origin = url): string {
  const { key, body } = firstRequest(url);
  return curlCommand(origin, key, body);
}
