import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { SETTINGS } from './settings.ts';

const PAGE = readFileSync(new URL('../../docs/settings.md', import.meta.url), 'utf8');

test('docs/settings.md has a row for every setting, with the texts of the code', () => {
  const rows = Object.values(SETTINGS).map(({ env, flag, value, fallback, about }) => {
    const unset = fallback === null ? '' : `\`${fallback}\``;
    const usage = `${flag} <${value}>`.replaceAll('|', '\\|');
    return `| \`${env}\` | \`${usage}\` | ${unset} | ${about} |`;
  });
  expect(PAGE.split('\n').filter((line) => line.startsWith('| `SCHED_'))).toEqual(rows);
});

test('the flag is derived from the name of the environment variable', () => {
  expect(SETTINGS.dataDir.flag).toBe('--data-dir');
  expect(SETTINGS.bootstrapSigningSecret.flag).toBe('--bootstrap-signing-secret');
});
