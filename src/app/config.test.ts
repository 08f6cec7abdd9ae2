import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { rootCertificates } from 'node:tls';
import { describe, expect, test } from 'vitest';
import { temporaryDirectory } from '#test/process/sched-process.ts';
import { readControlSettings, readMoveSettings, readSettings } from './config.ts';
import { SettingsError } from './failures.ts';

const DAY_MS = 86_400_000;

const fromEnv = (env: Readonly<Record<string, string>>) => readSettings({ flags: {}, env });

describe('settings', () => {
  test('unset, they are what the documentation says', () => {
    expect(fromEnv({})).toEqual({
      host: '127.0.0.1',
      port: 8080,
      dataDir: './data',
      databaseUrl: null,
      masterKey: null,
      masterKeysPrevious: null,
      role: 'all',
      egressAllow: null,
      egressAllowHttp: false,
      egressCertificates: null,
      bootstrapTestKey: null,
      bootstrapLiveKey: null,
      bootstrapSigningSecret: null,
      retentionMs: 90 * DAY_MS,
      shutdownGraceMs: 30_000,
      logLevel: 'info',
    });
  });

  test('a flag wins over the environment; an empty one does not count', () => {
    const env = { SCHED_PORT: '1', SCHED_HOST: 'localhost' };
    expect(readSettings({ flags: { '--port': '2', '--host': '' }, env })).toMatchObject({
      port: 2,
      host: 'localhost',
    });
  });

  test('a flag that is wrong is refused even where the environment is right', () => {
    expect(() => readSettings({ flags: { '--port': 'x' }, env: { SCHED_PORT: '1' } })).toThrow(SettingsError);
  });

  test('the other commands are not troubled by a setting that only the service has', () => {
    expect(readControlSettings({ flags: {}, env: { SCHED_PORT: 'x', SCHED_DATA_DIR: '/d' } }).dataDir).toBe(
      '/d',
    );
  });

  test('a wrong value is shown, cut short and on one line; a secret is not', () => {
    expect(() => fromEnv({ SCHED_ROLE: `a\n${'b'.repeat(100)}` })).toThrow(/not "a\\nb{58}"\.$/);
    expect(() => fromEnv({ SCHED_MASTER_KEY: 'wrong' })).toThrow(/^(?!.*wrong)/);
  });
});

describe('PostgreSQL', () => {
  const SCHED_DATABASE_URL = 'postgres://user:pass@one:1,two/sched?pgbouncer=true';
  const SCHED_MASTER_KEY = randomBytes(32).toString('base64');

  test('an address of several hosts', () => {
    expect(fromEnv({ SCHED_DATABASE_URL, SCHED_MASTER_KEY }).databaseUrl).toMatchObject({
      hosts: [
        { host: 'one', port: 1 },
        { host: 'two', port: 5432 },
      ],
      database: 'sched',
      isPooled: true,
    });
  });

  test('nodes need the same master key, so it must be given', () => {
    expect(() => fromEnv({ SCHED_DATABASE_URL })).toThrow(/^SCHED_MASTER_KEY must be set/);
    expect(() => readControlSettings({ flags: {}, env: { SCHED_DATABASE_URL } })).toThrow(SettingsError);
  });

  test('a wrong address is explained, and its password not shown', () => {
    const wrong = (url: string) => () => fromEnv({ SCHED_DATABASE_URL: url, SCHED_MASTER_KEY });
    expect(wrong('postgres://user:hidden@db/sched?what=1')).toThrow(
      /^SCHED_DATABASE_URL has a parameter other than application_name, .+\.$/,
    );
    expect(wrong('mysql://user:hidden@db/sched')).toThrow(/^(?!.*hidden)/);
  });

  test('a move needs the address, and finds the key where it was', () => {
    const given = (env: Readonly<Record<string, string>>) => ({ flags: {}, env });
    expect(readMoveSettings(given({ SCHED_DATABASE_URL }))).toMatchObject({ masterKey: null });
    expect(() => readMoveSettings(given({ SCHED_MASTER_KEY }))).toThrow(/^SCHED_DATABASE_URL must be set/);
  });
});

describe('values', () => {
  test.each(['0', '80', '65535'])('port %s', (text) => {
    expect(fromEnv({ SCHED_PORT: text }).port).toBe(Number(text));
  });

  test.each(['127.0.0.1', '::1', '0.0.0.0', '::', 'localhost', 'sched.internal', 'my_container-1'])(
    'host %s',
    (host) => {
      expect(fromEnv({ SCHED_HOST: host }).host).toBe(host);
    },
  );

  test('master keys', () => {
    const [key, old, older] = [randomBytes(32), randomBytes(32), randomBytes(32)];
    const settings = fromEnv({
      SCHED_MASTER_KEY: key.toString('base64'),
      SCHED_MASTER_KEY_PREVIOUS: `${old.toString('base64')}, ${older.toString('base64')}`,
    });
    expect(settings.masterKey).toEqual(key);
    expect(settings.masterKeysPrevious).toEqual([old, older]);
  });

  test('networks of both families, spaces around the commas', () => {
    expect(fromEnv({ SCHED_EGRESS_ALLOW: '10.1.0.0/16 , fd00::/8,::/0,192.168.1.7/32' }).egressAllow).toEqual(
      [
        { address: '10.1.0.0', prefixBits: 16, family: 'ipv4' },
        { address: 'fd00::', prefixBits: 8, family: 'ipv6' },
        { address: '::', prefixBits: 0, family: 'ipv6' },
        { address: '192.168.1.7', prefixBits: 32, family: 'ipv4' },
      ],
    );
  });

  test.each([
    '10.0.0.0/',
    '/8',
    '10.0.0/8',
    '10.0.0.0/8/8',
    '10.0.0.0/-1',
    '10.0.0.0/8,',
    'fe80::1%eth0/64',
    'all',
  ])('no network: %s', (text) => {
    expect(() => fromEnv({ SCHED_EGRESS_ALLOW: text })).toThrow(SettingsError);
  });

  test('certificates are read from their file', () => {
    const path = join(temporaryDirectory(), 'ca.pem');
    const pem = `A comment.\n${rootCertificates.slice(0, 2).join('\n')}\n`;
    writeFileSync(path, pem);
    expect(fromEnv({ SCHED_EGRESS_CA_FILE: path }).egressCertificates).toBe(pem);
    expect(() => fromEnv({ SCHED_EGRESS_CA_FILE: temporaryDirectory() })).toThrow(SettingsError);
  });

  test('durations are rounded up: only a true 0 keeps history for ever', () => {
    expect(fromEnv({ SCHED_RETENTION: '0' }).retentionMs).toBe(0);
    expect(fromEnv({ SCHED_RETENTION: '1ns' }).retentionMs).toBe(1);
    expect(fromEnv({ SCHED_RETENTION: '2562047h' }).retentionMs).toBe(2_562_047 * 3_600_000);
    expect(() => fromEnv({ SCHED_RETENTION: '-1ns' })).toThrow(SettingsError);
    expect(fromEnv({ SCHED_SHUTDOWN_GRACE: '24h' }).shutdownGraceMs).toBe(DAY_MS);
    expect(() => fromEnv({ SCHED_SHUTDOWN_GRACE: '24h1ns' })).toThrow(SettingsError);
  });

  test('a signing secret is any text of 16 characters, spaces included', () => {
    const secret = ' 14 characters ';
    expect(() => fromEnv({ SCHED_BOOTSTRAP_SIGNING_SECRET: secret })).toThrow(SettingsError);
    expect(fromEnv({ SCHED_BOOTSTRAP_SIGNING_SECRET: `${secret} ` }).bootstrapSigningSecret).toBe(
      `${secret} `,
    );
  });
});
