import { describe, expect, test } from 'vitest';
import { DEV_TEST_KEY, DEV_URL } from '#src/app/dev/keys.ts';
import { type ConnectionFlags, chooseConnection } from './connection.ts';
import type { Contexts } from './context-file.ts';

const STAGING = { url: 'https://staging.example.com', apiKey: 'sk_test_staging0123456789' };
const PRODUCTION = { url: 'https://production.example.com', apiKey: 'sk_live_production0123456789' };
const KEY = 'sk_test_environment0123456789';
const OTHER = 'https://other.example.com';

const NONE: Contexts = { current: null, byName: new Map() };
const TWO: Contexts = {
  current: 'staging',
  byName: new Map([
    ['staging', STAGING],
    ['production', PRODUCTION],
  ]),
};

/** Formats the choice as `url | its origin | key | its origin`. */
function chosen(
  flags: ConnectionFlags,
  env: Record<string, string>,
  contexts: Contexts,
  keyFromFile: string | null = null,
): string {
  const { url, apiKey } = chooseConnection(flags, keyFromFile, env, contexts);
  return [url.value, url.from, apiKey.value, apiKey.from].join(' | ');
}

describe('a value comes from a flag, else the environment, else a context, else sched dev', () => {
  test('without anything set, the service of sched dev is called', () => {
    const dev = 'the fixed values of "sched dev"';
    expect(chosen({}, {}, NONE)).toBe(`${DEV_URL} | ${dev} | ${DEV_TEST_KEY} | ${dev}`);
    expect(chosen({}, { SCHED_URL: '', SCHED_API_KEY: '', SCHED_CONTEXT: '' }, NONE)).toContain(DEV_TEST_KEY);
  });

  test('another port of this machine gets the same fixed key', () => {
    for (const url of ['http://127.0.0.1:9999', 'http://localhost:9999', 'http://[::1]:9999'])
      expect(chosen({ url }, {}, NONE)).toBe(
        `${url} | --url | ${DEV_TEST_KEY} | the fixed values of "sched dev"`,
      );
  });

  test('--context wins over SCHED_CONTEXT, and both over the current context', () => {
    const staging = `${STAGING.url} | context staging | ${STAGING.apiKey} | context staging`;
    const production = `${PRODUCTION.url} | context production | ${PRODUCTION.apiKey} | context production`;
    expect(chosen({}, {}, TWO)).toBe(staging);
    expect(chosen({}, { SCHED_CONTEXT: 'production' }, TWO)).toBe(production);
    expect(chosen({ context: 'staging' }, { SCHED_CONTEXT: 'production' }, TWO)).toBe(staging);
  });

  test('the environment wins over a context, but not over --context', () => {
    const env = { SCHED_URL: `${OTHER}/`, SCHED_API_KEY: KEY };
    expect(chosen({}, env, TWO)).toBe(`${OTHER} | SCHED_URL | ${KEY} | SCHED_API_KEY`);
    expect(chosen({ context: 'production' }, env, TWO)).toContain(PRODUCTION.apiKey);
  });

  test('SCHED_API_KEY alone is sent to this machine', () => {
    const local: Contexts = { current: 'local', byName: new Map([['local', { ...STAGING, url: DEV_URL }]]) };
    expect(chosen({}, { SCHED_API_KEY: KEY }, NONE)).toContain(`${DEV_URL} | `);
    expect(chosen({}, { SCHED_API_KEY: KEY }, local)).toBe(
      `${DEV_URL} | context local | ${KEY} | SCHED_API_KEY`,
    );
  });

  test('flags win over everything else', () => {
    expect(chosen({ url: OTHER }, { SCHED_API_KEY: KEY }, TWO)).toBe(
      `${OTHER} | --url | ${KEY} | SCHED_API_KEY`,
    );
    expect(chosen({ url: OTHER, apiKeyFile: 'f' }, { SCHED_API_KEY: 'x' }, TWO, KEY)).toBe(
      `${OTHER} | --url | ${KEY} | --api-key-file`,
    );
  });

  test('an address is the same with and without a final slash', () => {
    expect(chosen({ url: `${STAGING.url}/` }, {}, TWO)).toContain(STAGING.apiKey);
  });
});

describe('a key is not sent to another address than its own', () => {
  test.each<[string, ConnectionFlags, Record<string, string>, Contexts, RegExp]>([
    [
      'the current context with --url',
      { url: OTHER },
      {},
      TWO,
      /key of context staging belongs to https:\/\/staging/,
    ],
    [
      'the current context with SCHED_URL',
      {},
      { SCHED_URL: OTHER },
      TWO,
      /not sent to https:\/\/other.+SCHED_URL/,
    ],
    [
      'a named context with --url',
      { url: OTHER, context: 'production' },
      {},
      TWO,
      /key of context production/,
    ],
    [
      'a named context with --url and SCHED_API_KEY',
      { url: OTHER, context: 'production' },
      { SCHED_API_KEY: KEY },
      TWO,
      /key of context production/,
    ],
    [
      'the environment with --url',
      { url: OTHER },
      { SCHED_URL: STAGING.url, SCHED_API_KEY: KEY },
      NONE,
      /key of SCHED_API_KEY belongs to https:\/\/staging/,
    ],
    ['SCHED_API_KEY alone with the current context', {}, { SCHED_API_KEY: KEY }, TWO, /Set SCHED_URL too/],
    [
      'SCHED_API_KEY alone with SCHED_CONTEXT',
      {},
      { SCHED_API_KEY: KEY, SCHED_CONTEXT: 'production' },
      TWO,
      /not sent to https:\/\/production.+Set SCHED_URL too/,
    ],
    ['no key is known for the address', { url: OTHER }, {}, NONE, /no API key for https:\/\/other/],
  ])('%s', (_, flags, env, contexts, why) => {
    expect(() => chosen(flags, env, contexts)).toThrow(why);
  });
});

test.each<[ConnectionFlags, Record<string, string>, RegExp]>([
  [{ context: 'nope' }, {}, /no context "nope"/],
  [{}, { SCHED_CONTEXT: 'nope' }, /no context "nope"/],
  [{ url: 'sched.example.com' }, {}, /--url must be an address/],
  [{ url: 'ftp://example.com' }, {}, /--url must be an address/],
  [{}, { SCHED_URL: 'https://user:password@example.com' }, /SCHED_URL must be an address/],
  [{ url: OTHER }, { SCHED_API_KEY: 'secret with spaces' }, /SCHED_API_KEY must be an API key/],
])('%j %j is refused, and the error does not show the key', (flags, env, why) => {
  expect(() => chosen(flags, env, TWO)).toThrow(why);
  expect(() => chosen(flags, env, TWO)).not.toThrow(/password|secret with/);
});
