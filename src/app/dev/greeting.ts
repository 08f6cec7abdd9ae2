/** What a developer reads when `sched dev` has started: all there is to know, and a line to paste. */
import { hookUrl, pageUrl } from '#src/inbox/inbox.ts';
import { firstCurl } from './first.ts';
import { DEV_LIVE_KEY, DEV_SIGNING_SECRET, DEV_TEST_KEY } from './keys.ts';
import type { Paint } from './terminal-line.ts';

export interface Playground {
  /** Null where nothing is kept. */
  readonly dataDir: string | null;
  readonly unused: readonly string[];
}

export function greeting(url: string, { dataDir, unused }: Playground, paint: Paint): string {
  const rows = [
    ['inbox', pageUrl(url)],
    ['receiver', hookUrl(url)],
    ['API', `${url}/v1`],
    ['reference', `${url}/docs`],
    ['test key', DEV_TEST_KEY],
    ['live key', DEV_LIVE_KEY],
    ['signing secret', DEV_SIGNING_SECRET],
    ['data', dataDir ?? 'gone when this ends; --data-dir DIR keeps it'],
  ] as const;
  const width = Math.max(...rows.map(([label]) => label.length));
  const lines = rows.map(([label, value]) => `  ${paint('dim', label.padEnd(width))}  ${value}`);
  const left =
    unused.length === 0 ? [] : ['', `${paint('yellow', 'Set, but not used here:')} ${unused.join(', ')}`];
  return [
    '',
    ...lines,
    ...left,
    '',
    'A first delivery, two seconds from now:',
    '',
    paint('cyan', firstCurl(url)),
    '',
    paint('dim', 'Every attempt is told below. Ctrl-C ends it.'),
    '',
    '',
  ].join('\n');
}
