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
  test('have the documented defaults', () => {
    expect(fromEnv({})).toEqual({
      host: '127.0.0.1',
      port: 8080,
      dataDir: './data',
      databaseUrl: null,
      masterKey: null,
      masterKeysPrevious: null,
      role: 'all',
      publicOrigins: null,
      trustedProxies: null,
      egressAllow: null,
      egressAllowHttp: false,
      egressCertificates: null,
      responseExcerpt: 0,
      bootstrapTestKey: null,
      bootstrapLiveKey: null,
      bootstrapSigningSecret: null,
      retentionMs: 90 * DAY_MS,
      auditRetentionMs: 365 * DAY_MS,
      shutdownGraceMs: 30_000,
      logLevel: 'info',
    });
  });

  test('are read from a flag before the environment, and an empty flag does not count', () => {
    const env = { SCHED_PORT: '1', SCHED_HOST: 'localhost' };
    expect(readSettings({ flags: { '--port': '2', '--host': '' }, env })).toMatchObject({
      port: 2,
      host: 'localhost',
    });
  });

  test('are refused if the flag is wrong, even if the environment is right', () => {
    expect(() => readSettings({ flags: { '--port': 'x' }, env: { SCHED_PORT: '1' } })).toThrow(SettingsError);
  });

  test('of the service alone are not checked by the other commands', () => {
    expect(readControlSettings({ flags: {}, env: { SCHED_PORT: 'x', SCHED_DATA_DIR: '/d' } }).dataDir).toBe(
      '/d',
    );
  });

  test('that are wrong are shown shortened on one line, but secrets are not shown', () => {
    expect(() => fromEnv({ SCHED_ROLE: `a\n${'b'.repeat(100)}` })).toThrow(/not "a\\nb{58}"\.$/);
    expect(() => fromEnv({ SCHED_MASTER_KEY: 'wrong' })).toThrow(/^(?!.*wrong)/);
  });
});

describe('PostgreSQL', () => {
  const SCHED_DATABASE_URL = 'postgres://user:pass@one:1,two/sched?pgbouncer=true';
  const SCHED_MASTER_KEY = randomBytes(32).toString('base64');

  test('can be given with several hosts', () => {
    expect(fromEnv({ SCHED_DATABASE_URL, SCHED_MASTER_KEY }).databaseUrl).toMatchObject({
      hosts: [
        { host: 'one', port: 1 },
        { host: 'two', port: 5432 },
      ],
      database: 'sched',
      isPooled: true,
    });
  });

  test('needs the master key to be set, because all nodes must use the same one', () => {
    expect(() => fromEnv({ SCHED_DATABASE_URL })).toThrow(
      /^SCHED_MASTER_KEY or SCHED_MASTER_KEY_FILE must be set/,
    );
    expect(() => readControlSettings({ flags: {}, env: { SCHED_DATABASE_URL } })).toThrow(SettingsError);
  });

  test('a wrong address is explained without showing its password', () => {
    const wrong = (url: string) => () => fromEnv({ SCHED_DATABASE_URL: url, SCHED_MASTER_KEY });
    expect(wrong('postgres://user:hidden@db/sched?what=1')).toThrow(
      /^SCHED_DATABASE_URL has a parameter other than application_name, .+\.$/,
    );
    expect(wrong('mysql://user:hidden@db/sched')).toThrow(/^(?!.*hidden)/);
  });

  test('a move needs the address, and uses the key of the data directory', () => {
    const given = (env: Readonly<Record<string, string>>) => ({ flags: {}, env });
    expect(readMoveSettings(given({ SCHED_DATABASE_URL }))).toMatchObject({ masterKey: null });
    expect(() => readMoveSettings(given({ SCHED_MASTER_KEY }))).toThrow(/^SCHED_DATABASE_URL must be set/);
  });
});

describe('secrets in files', () => {
  const SCHED_DATABASE_URL = 'postgres://user:hidden@db/sched';
  const [key, old, older] = [randomBytes(32), randomBytes(32), randomBytes(32)];
  const base64 = (bytes: Uint8Array) => Buffer.from(bytes).toString('base64');

  function fileWith(content: string): string {
    const path = join(temporaryDirectory(), 'secret');
    // Mounted secrets are readable by every user.
    writeFileSync(path, content, { mode: 0o444 });
    return path;
  }

  test.each(['', '\n', '\r\n'])('are read like the setting itself, with %j at the end', (end) => {
    expect(
      fromEnv({
        SCHED_DATABASE_URL_FILE: fileWith(`${SCHED_DATABASE_URL}${end}`),
        SCHED_MASTER_KEY_FILE: fileWith(`${base64(key)}${end}`),
        SCHED_MASTER_KEY_PREVIOUS_FILE: fileWith(`${base64(old)},${base64(older)}${end}`),
      }),
    ).toEqual(
      fromEnv({
        SCHED_DATABASE_URL,
        SCHED_MASTER_KEY: base64(key),
        SCHED_MASTER_KEY_PREVIOUS: `${base64(old)},${base64(older)}`,
      }),
    );
  });

  test('are read by the other commands, and from flags', () => {
    const env = { SCHED_DATABASE_URL_FILE: fileWith(SCHED_DATABASE_URL) };
    const flags = { '--master-key-file': fileWith(base64(key)) };
    expect(readControlSettings({ flags, env })).toMatchObject({
      masterKey: key,
      databaseUrl: { user: 'user' },
    });
    expect(readMoveSettings({ flags, env })).toMatchObject({ masterKey: key, databaseUrl: { user: 'user' } });
  });

  test('are refused together with the setting itself, as flag or in the environment', () => {
    const SCHED_MASTER_KEY_FILE = fileWith(base64(key));
    const SCHED_MASTER_KEY = base64(key);
    const message =
      /^SCHED_MASTER_KEY_FILE and .*SCHED_MASTER_KEY\)? must not both be set\. Remove one of the two\.$/;
    expect(() => fromEnv({ SCHED_MASTER_KEY_FILE, SCHED_MASTER_KEY })).toThrow(message);
    expect(() =>
      readSettings({ flags: { '--master-key': SCHED_MASTER_KEY }, env: { SCHED_MASTER_KEY_FILE } }),
    ).toThrow(message);
    expect(fromEnv({ SCHED_MASTER_KEY_FILE, SCHED_MASTER_KEY: '' }).masterKey).toEqual(key);
  });

  test.each([
    ['if they are empty', '\n', 'SCHED_MASTER_KEY_FILE must be a file that is not empty.'],
    [
      'if they are too large',
      'k'.repeat(16_385),
      'SCHED_MASTER_KEY_FILE must be a file of at most 16384 bytes.',
    ],
    [
      'if they contain something else',
      'hidden',
      'The content of SCHED_MASTER_KEY_FILE must be 32 bytes in base64, such as `openssl rand -base64 32` prints.',
    ],
  ])('are refused %s, without showing the content', (_, content, message) => {
    expect(() => fromEnv({ SCHED_MASTER_KEY_FILE: fileWith(content) })).toThrow(new SettingsError(message));
  });

  test('that cannot be read or are endless are refused without showing the path, which may be the secret', () => {
    const refusal = (path: string) => () => fromEnv({ SCHED_DATABASE_URL_FILE: path });
    expect(refusal('/nowhere/hidden')).toThrow(
      new SettingsError('SCHED_DATABASE_URL_FILE must be a file that can be read (ENOENT).'),
    );
    expect(refusal(temporaryDirectory())).toThrow(/must be a file that can be read \(EISDIR\)\.$/);
    expect(refusal('/dev/zero')).toThrow(/must be a file of at most 16384 bytes\.$/);
    expect(refusal('a\0b')).toThrow(/^SCHED_DATABASE_URL_FILE must be a file that can be read/);
  });

  test('that contain a wrong address are explained', () => {
    expect(() => fromEnv({ SCHED_DATABASE_URL_FILE: fileWith(`${SCHED_DATABASE_URL}?what=1`) })).toThrow(
      /^The content of SCHED_DATABASE_URL_FILE has a parameter other than (?!.*hidden)/,
    );
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

  test('networks may be of both families, with spaces around the commas', () => {
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

  test('the addresses of the dashboard are origins, normalised as browsers do', () => {
    const text = 'https://Sched.Example.com/, http://[::1]:8080,https://sched.example.com:443';
    expect(fromEnv({ SCHED_PUBLIC_URL: text }).publicOrigins).toEqual([
      'https://sched.example.com',
      'http://[::1]:8080',
    ]);
  });

  test.each([
    'sched.example.com',
    'ftp://sched.example.com',
    'https://sched.example.com/sched',
    'https://sched.example.com/?',
    'https://sched.example.com#a',
    'https://user@sched.example.com',
    'https:sched.example.com',
    'https://',
    'https://a.example,',
    'https://a.example https://b.example',
    Array.from({ length: 17 }, (_, i) => `https://${i}.example`).join(','),
  ])('no address of the dashboard: %s', (text) => {
    expect(() => fromEnv({ SCHED_PUBLIC_URL: text })).toThrow(SettingsError);
  });

  test('proxies are networks or single addresses', () => {
    expect(fromEnv({ SCHED_TRUSTED_PROXIES: '10.1.0.0/16, 192.0.2.7,fd00::7' }).trustedProxies).toEqual([
      { address: '10.1.0.0', prefixBits: 16, family: 'ipv4' },
      { address: '192.0.2.7', prefixBits: 32, family: 'ipv4' },
      { address: 'fd00::7', prefixBits: 128, family: 'ipv6' },
    ]);
  });

  test.each([
    'proxy.internal',
    '10.0.0',
    '10.0.0.1,',
    '10.0.0.0/33',
    'fe80::1%eth0',
    '::ffff:10.0.0.1',
    '0:0:0:0:0:ffff:a00:0/104',
  ])('no proxy: %s', (text) => {
    expect(() => fromEnv({ SCHED_TRUSTED_PROXIES: text })).toThrow(SettingsError);
  });

  test('certificates are read from a file', () => {
    const path = join(temporaryDirectory(), 'ca.pem');
    const pem = `A comment.\n${rootCertificates.slice(0, 2).join('\n')}\n`;
    writeFileSync(path, pem);
    expect(fromEnv({ SCHED_EGRESS_CA_FILE: path }).egressCertificates).toBe(pem);
    expect(() => fromEnv({ SCHED_EGRESS_CA_FILE: temporaryDirectory() })).toThrow(SettingsError);
  });

  test('durations are rounded up, so that only 0 keeps history forever', () => {
    expect(fromEnv({ SCHED_RETENTION: '0' }).retentionMs).toBe(0);
    expect(fromEnv({ SCHED_AUDIT_RETENTION: '0' }).auditRetentionMs).toBe(0);
    expect(fromEnv({ SCHED_RETENTION: '1ns' }).retentionMs).toBe(1);
    expect(fromEnv({ SCHED_RETENTION: '2562047h' }).retentionMs).toBe(2_562_047 * 3_600_000);
    expect(() => fromEnv({ SCHED_RETENTION: '-1ns' })).toThrow(SettingsError);
    expect(fromEnv({ SCHED_SHUTDOWN_GRACE: '24h' }).shutdownGraceMs).toBe(DAY_MS);
    expect(() => fromEnv({ SCHED_SHUTDOWN_GRACE: '24h1ns' })).toThrow(SettingsError);
  });

  test.each([
    [
      'SCHED_RETENTION',
      '30d',
      'must be a duration of at least 0, such as 2160h or 0, not "30d". Write "720h".',
    ],
    ['SCHED_AUDIT_RETENTION', '1y', 'must be a duration of at least 0, such as 8760h or 0, not "1y".'],
    ['SCHED_SHUTDOWN_GRACE', '30', 'must be a duration from 0 to 24h, such as 30s, not "30". Write "30s".'],
    // A correction that the setting would refuse is not offered.
    ['SCHED_SHUTDOWN_GRACE', '2d', 'must be a duration from 0 to 24h, such as 30s, not "2d".'],
  ])('%s=%s says what to write', (name, text, message) => {
    expect(() => fromEnv({ [name]: text })).toThrow(new SettingsError(`${name} ${message}`));
  });

  test('a signing secret is any text of at least 16 characters, including spaces', () => {
    const secret = ' 14 characters ';
    expect(() => fromEnv({ SCHED_BOOTSTRAP_SIGNING_SECRET: secret })).toThrow(SettingsError);
    expect(fromEnv({ SCHED_BOOTSTRAP_SIGNING_SECRET: `${secret} ` }).bootstrapSigningSecret).toBe(
      `${secret} `,
    );
  });
});
