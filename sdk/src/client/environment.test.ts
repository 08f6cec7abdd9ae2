import { afterEach, expect, test, vi } from 'vitest';
import { processEnvironment } from './environment.ts';

afterEach(() => {
  vi.unstubAllGlobals();
  vi.unstubAllEnvs();
});

test('a setting of the process', () => {
  vi.stubEnv('SCHED_URL', 'https://sched.example.com');
  expect(processEnvironment('SCHED_URL')).toBe('https://sched.example.com');
});

test('an empty setting counts as unset', () => {
  vi.stubEnv('SCHED_URL', '');
  expect(processEnvironment('SCHED_URL')).toBeUndefined();
});

test.each<readonly [string, unknown]>([
  ['has no process', undefined],
  ['has a process without settings', {}],
  [
    'refuses to read them',
    {
      get env() {
        throw new Error('NotCapable: requires env access');
      },
    },
  ],
])('a runtime that %s has no settings', (_what, process) => {
  vi.stubGlobal('process', process);
  expect(processEnvironment('SCHED_URL')).toBeUndefined();
});
