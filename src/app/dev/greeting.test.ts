import { expect, test } from 'vitest';
import { greeting } from './greeting.ts';
import { DEV_URL } from './keys.ts';

test('the command line needs the address only if it is not the default one', () => {
  const about = { dataDir: null, ignored: [] };
  const lineAt = (url: string) =>
    /^ *command line +(.+)$/m.exec(greeting(url, about, (_, text) => text))?.[1];
  expect(lineAt(DEV_URL)).toBe('sched schedules list');
  expect(lineAt('http://127.0.0.1:9999')).toBe('SCHED_URL=http://127.0.0.1:9999 sched schedules list');
});
