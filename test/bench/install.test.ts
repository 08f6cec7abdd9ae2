/** When the benchmark installs its peers. */
import { expect, test } from 'vitest';
import { isInstalled } from '../../bench/install.ts';

const WANTED = {
  packages: {
    '': { version: '1.0.0' },
    'node_modules/one': { version: '1.2.3' },
    'node_modules/for-mac': { version: '2.0.0', optional: true },
  },
};

test.each([
  ['all versions', { 'node_modules/one': { version: '1.2.3' } }, true],
  ['another version', { 'node_modules/one': { version: '1.2.4' } }, false],
  [
    'another version of an optional one',
    { ...WANTED.packages, 'node_modules/for-mac': { version: '1.9.0' } },
    false,
  ],
  ['nothing', {}, false],
])('a folder that has %s is installed: %#', (_what, packages, expected) => {
  expect(isInstalled(WANTED, { packages })).toBe(expected);
});
