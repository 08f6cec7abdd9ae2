import { describe, expect, test } from 'vitest';
import { SETTINGS } from '#src/app/settings.ts';
import { runCommand } from './run-command.ts';

const SHORT_KEY_BYTES = Buffer.alloc(31, 7).toString('base64');

/** `SCHED_DATA_DIR` is missing because every text is a path. A path that cannot be used is not a bad setting. */
const BAD: readonly (readonly [setting: string, value: string])[] = [
  ['SCHED_HOST', 'not a host'],
  ['SCHED_HOST', '256.0.0.1'],
  ['SCHED_PORT', 'http'],
  ['SCHED_PORT', '65536'],
  ['SCHED_PORT', '-1'],
  ['SCHED_PORT', '80 '],
  ['SCHED_DATABASE_URL', 'mysql://user:hidden-value@db/sched'],
  ['SCHED_DATABASE_URL', 'postgres://user:hidden-value@@db/sched'],
  ['SCHED_DATABASE_URL', 'postgres://user:hidden-value@db/sched?target_session_attrs=standby'],
  ['SCHED_DATABASE_URL', 'postgres://user:hidden-value@db/sched?sslmode=verify-ca'],
  ['SCHED_DATABASE_URL', 'postgres://user:hidden-value@db/sched?sslmode=require&sslrootcert=system'],
  ['SCHED_DATABASE_URL_FILE', '/nowhere/hidden-value'],
  ['SCHED_MASTER_KEY', 'hidden-value'],
  ['SCHED_MASTER_KEY', SHORT_KEY_BYTES],
  ['SCHED_MASTER_KEY_FILE', '/nowhere/hidden-value'],
  ['SCHED_MASTER_KEY_FILE', SHORT_KEY_BYTES],
  ['SCHED_MASTER_KEY_PREVIOUS', `${Buffer.alloc(32, 1).toString('base64')},hidden-value`],
  ['SCHED_MASTER_KEY_PREVIOUS_FILE', '/nowhere/hidden-value'],
  ['SCHED_ROLE', 'leader'],
  ['SCHED_PUBLIC_URL', 'sched.example.com'],
  ['SCHED_PUBLIC_URL', 'https://sched.example.com/dashboard'],
  ['SCHED_TRUSTED_PROXIES', 'proxy.internal'],
  ['SCHED_TRUSTED_PROXIES', '10.0.0.0/33'],
  ['SCHED_EGRESS_ALLOW', '10.0.0.0'],
  ['SCHED_EGRESS_ALLOW', '10.0.0.0/33'],
  ['SCHED_EGRESS_ALLOW', '10.0.0.0/8,fd00::/129'],
  ['SCHED_EGRESS_ALLOW_HTTP', 'yes'],
  ['SCHED_EGRESS_CA_FILE', '/nowhere/ca.pem'],
  ['SCHED_EGRESS_CA_FILE', 'package.json'],
  ['SCHED_RESPONSE_EXCERPT', '16385'],
  ['SCHED_RESPONSE_EXCERPT', '4k'],
  ['SCHED_BOOTSTRAP_TEST_KEY', 'sk_live_hidden-value-0000'],
  ['SCHED_BOOTSTRAP_TEST_KEY', 'sk_test_hidden-value'],
  ['SCHED_BOOTSTRAP_LIVE_KEY', 'hidden-value-hidden-value'],
  ['SCHED_BOOTSTRAP_SIGNING_SECRET', 'hidden-value'],
  ['SCHED_RETENTION', '90d'],
  ['SCHED_AUDIT_RETENTION', '1y'],
  ['SCHED_RETENTION', '-1h'],
  ['SCHED_SHUTDOWN_GRACE', '30'],
  ['SCHED_SHUTDOWN_GRACE', '25h'],
  ['SCHED_LOG_LEVEL', 'loud'],
  ['SCHED_LOG_LEVEL', 'two\nlines'],
];

describe('a bad setting ends the start with exit code 2 and one line that names it', () => {
  test.concurrent.each(BAD)('%s=%s', async (setting, value) => {
    const { code, stdout, stderr } = await runCommand(['serve'], {
      env: { SCHED_PORT: '0', [setting]: value },
    });
    expect(code).toBe(2);
    expect(stdout).toBe('');
    expect(stderr).toMatch(new RegExp(`^sched: ${setting} must .*\\.\\n$`));
    expect(stderr).not.toContain('hidden-value');
    expect(stderr).not.toContain(SHORT_KEY_BYTES);
  });

  test('every setting is in the table', () => {
    const named = new Set(BAD.map(([setting]) => setting));
    const all = Object.values(SETTINGS).map(({ env }) => env);
    expect(all.filter((env) => !named.has(env))).toEqual(['SCHED_DATA_DIR']);
  });
});

test.concurrent('a bad flag is reported with the name of its setting', async () => {
  const { code, stderr } = await runCommand(['serve', '--port', 'x']);
  expect(code).toBe(2);
  expect(stderr).toBe('sched: --port (SCHED_PORT) must be a whole number from 0 to 65535, not "x".\n');
});

test.concurrent('PostgreSQL needs the master key for the other commands too', async () => {
  for (const args of [['serve'], ['migrate'], ['key', 'list']]) {
    const { code, stderr } = await runCommand(args, {
      env: { SCHED_DATABASE_URL: 'postgres://db/sched', SCHED_MASTER_KEY: '' },
    });
    expect({ code, stderr }).toEqual({
      code: 2,
      stderr:
        'sched: SCHED_MASTER_KEY or SCHED_MASTER_KEY_FILE must be set together with SCHED_DATABASE_URL, to the same key on every node.\n',
    });
  }
});

test.concurrent('a SQLite file cannot be distributed', async () => {
  const { code, stderr } = await runCommand(['migrate', '--distribute'], {
    env: { SCHED_DATABASE_URL: '', SCHED_MASTER_KEY: '' },
  });
  expect({ code, stderr }).toEqual({
    code: 2,
    stderr: 'sched: --distribute needs SCHED_DATABASE_URL, because a SQLite file cannot be distributed.\n',
  });
});
