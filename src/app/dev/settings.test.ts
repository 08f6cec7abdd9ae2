import { describe, expect, test } from 'vitest';
import { SettingsError } from '#src/app/failures.ts';
import { DEV_LIVE_KEY, DEV_SIGNING_SECRET, DEV_TEST_KEY } from './keys.ts';
import { readDevSettings } from './settings.ts';

const read = (flags: Readonly<Record<string, string>>, env: Readonly<Record<string, string>> = {}) =>
  readDevSettings({ flags, env }, () => '/temporary');

const LOOPBACK = [
  { family: 'ipv4', address: '127.0.0.0', prefixBits: 8 },
  { family: 'ipv6', address: '::1', prefixBits: 128 },
];

test('without settings it uses SQLite in a temporary directory, with fixed keys', () => {
  expect(read({})).toMatchObject({
    settings: {
      host: '127.0.0.1',
      port: 8080,
      dataDir: '/temporary',
      databaseUrl: null,
      masterKey: null,
      role: 'all',
      egressAllow: LOOPBACK,
      egressAllowHttp: true,
      responseExcerpt: 4_096,
      bootstrapTestKey: DEV_TEST_KEY,
      bootstrapLiveKey: DEV_LIVE_KEY,
      bootstrapSigningSecret: DEV_SIGNING_SECRET,
      logLevel: 'error',
    },
    ignored: [],
  });
});

test('of the settings of a service only the address and the allowed networks are used', () => {
  const { settings, ignored } = read(
    {},
    {
      SCHED_PORT: '9',
      SCHED_EGRESS_ALLOW: '10.1.0.0/16',
      SCHED_EGRESS_ALLOW_HTTP: 'false',
      SCHED_DATABASE_URL: 'no address at all',
      SCHED_DATA_DIR: '/data',
      SCHED_ROLE: 'api',
      SCHED_LOG_LEVEL: 'debug',
      SCHED_BOOTSTRAP_TEST_KEY: 'wrong',
      SCHED_RETENTION: '',
      SCHED_URL: 'http://elsewhere',
      HOME: '/home',
    },
  );
  expect(settings).toMatchObject({
    port: 9,
    egressAllow: [...LOOPBACK, { family: 'ipv4', address: '10.1.0.0', prefixBits: 16 }],
    egressAllowHttp: true,
    dataDir: '/temporary',
    databaseUrl: null,
    role: 'all',
    logLevel: 'error',
    bootstrapTestKey: DEV_TEST_KEY,
  });
  expect(ignored).toEqual([
    'SCHED_BOOTSTRAP_TEST_KEY',
    'SCHED_DATABASE_URL',
    'SCHED_DATA_DIR',
    'SCHED_EGRESS_ALLOW_HTTP',
    'SCHED_LOG_LEVEL',
    'SCHED_ROLE',
  ]);
});

test('flags are used', () => {
  expect(read({ '--data-dir': './d', '--log-level': 'info', '--port': '0' }).settings).toMatchObject({
    dataDir: './d',
    logLevel: 'info',
    port: 0,
  });
});

describe('the host', () => {
  test.each(['127.0.0.1', '127.0.0.2', '::1', 'localhost'])(
    'may be an address of this machine: %s',
    (host) => {
      expect(read({ '--host': host }).settings.host).toBe(host);
    },
  );

  test.each([
    '0.0.0.0',
    '::',
    '192.168.1.1',
    '::ffff:127.0.0.1',
    'example.com',
    'localhost.example.com',
    '127.0.0.1.nip.io',
    'my.localhost',
  ])('may not be an address that others can reach: %s', (host) => {
    expect(() => read({ '--host': host })).toThrow(SettingsError);
    expect(() => read({}, { SCHED_HOST: host })).toThrow(/^--host \(SCHED_HOST\) must be/);
  });
});
