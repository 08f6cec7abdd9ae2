import { statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { readControlSettings } from '#src/app/config.ts';
import { withSecrets } from '#src/app/control-session.ts';
import { createProject } from '#src/control/bootstrap.ts';
import { addKey } from '#src/control/keys.ts';
import { runCommand, startInThread } from './run-command.ts';
import { type Output, startSched, temporaryDirectory } from './sched-process.ts';
import { IS_POSTGRES, storeSettings } from './store-in-use.ts';

const DAY_MS = 86_400_000;
const TEST_KEY = 'sk_test_of-the-operator-0001';
const LIVE_KEY = 'sk_live_of-the-operator-0001';
const SECRET = 'a signing secret of the operator';
const PROVIDED = {
  SCHED_BOOTSTRAP_TEST_KEY: TEST_KEY,
  SCHED_BOOTSTRAP_LIVE_KEY: LIVE_KEY,
  SCHED_BOOTSTRAP_SIGNING_SECRET: SECRET,
};

async function statusWith(sched: { readonly url: string }, key: string): Promise<number> {
  const answer = await fetch(`${sched.url}/v1/schedules`, { headers: { authorization: `Bearer ${key}` } });
  await answer.body?.cancel();
  return answer.status;
}

function secretsIn({ stdout }: Output): readonly string[] {
  return stdout.match(/(sk_test_|sk_live_|whsec_)\S+/g) ?? [];
}

const onlyTheAddress = /^Sched listens on http:\/\/127\.0\.0\.1:\d+\n$/;
const INVITATION = /^ {2}(http:\/\/127\.0\.0\.1:\d+)\/dashboard\/invite#([\w-]{43})$/gm;

function invitationsIn({ stdout }: Output): readonly RegExpExecArray[] {
  return [...stdout.matchAll(INVITATION)];
}

describe('the first start without provided credentials', () => {
  test('prints the keys and signing secrets once, only on standard output, and a later start does not', async () => {
    const dataDir = temporaryDirectory();
    await using first = await startSched({ dataDir });
    const secrets = secretsIn(first.output);
    expect(secrets.map((text) => text.replace(/_[^_]*$/, ''))).toEqual([
      'sk_test',
      'sk_live',
      'whsec',
      'whsec',
    ]);
    expect(first.output.stdout).toMatch(/shown only once/);
    expect(await statusWith(first, first.testKey)).toBe(200);
    expect(await statusWith(first, first.liveKey)).toBe(200);
    expect(await statusWith(first, `${first.testKey}x`)).toBe(401);
    await first.stop();
    for (const text of secrets) expect(first.output.stderr).not.toContain(text);

    await using second = await startInThread({ dataDir });
    expect(second.output.stdout).toMatch(onlyTheAddress);
    expect(await statusWith(second, first.testKey)).toBe(200);
  });

  // With PostgreSQL neither is a file.
  test.skipIf(IS_POSTGRES)(
    'makes the database and the master key readable only for its own user',
    async () => {
      await using sched = await startInThread();
      for (const file of ['sched.db', 'master.key']) {
        expect(statSync(join(sched.dataDir, file)).mode & 0o777).toBe(0o600);
      }
    },
  );

  test('prints the secrets that secret show prints again', async () => {
    await using sched = await startInThread();
    const { dataDir } = sched;
    for (const [mode, printed] of [
      ['test', secretsIn(sched.output)[2]],
      ['live', secretsIn(sched.output)[3]],
    ] as const) {
      const { stdout } = await runCommand(['secret', 'show', '--mode', mode, '--json'], { dataDir });
      expect(JSON.parse(stdout)).toMatchObject([{ secret: printed, expires_at: null }]);
    }
  });
});

describe('the invitation of the first admin', () => {
  test('is printed once, right before the address, only on standard output, and is not repeated while it is open', async () => {
    const dataDir = temporaryDirectory();
    await using first = await startInThread({ dataDir });
    const [link, ...more] = invitationsIn(first.output);
    expect(more).toEqual([]);
    expect(link?.[1]).toBe(first.url);
    expect(first.output.stdout).toMatch(
      /dashboard\/invite#\S+\n\n.*sched user create.*\n.*\n\nSched listens on /,
    );
    await first.stop();
    expect(first.output.stderr).not.toContain(link?.[2]);

    const { stdout } = await runCommand(['user', 'list', '--json'], { dataDir });
    const listed = JSON.parse(stdout);
    expect(listed).toMatchObject({
      users: [],
      invitations: [{ role: 'admin', projects: null, created_by: 'first start' }],
    });
    const [{ created_at, expires_at }] = listed.invitations;
    expect(Date.parse(expires_at) - Date.parse(created_at)).toBe(DAY_MS);
    expect(stdout).not.toContain(link?.[2]);
    await using second = await startInThread({ dataDir });
    expect(invitationsIn(second.output)).toEqual([]);
  });

  test('is created again after it was withdrawn, even if another user is invited', async () => {
    const dataDir = temporaryDirectory();
    await using first = await startInThread({ dataDir });
    await first.stop();
    const { stdout } = await runCommand(['user', 'list', '--json'], { dataDir });
    const [{ id }] = JSON.parse(stdout).invitations;
    await runCommand(['user', 'remove', id], { dataDir });
    await runCommand(['user', 'create', '--role', 'operator'], { dataDir });
    await using second = await startInThread({ dataDir });
    expect(invitationsIn(second.output)).toHaveLength(1);
  });
});

describe('keys and a secret from the environment', () => {
  test('are used and not printed', async () => {
    await using sched = await startInThread({ env: PROVIDED });
    expect(secretsIn(sched.output)).toEqual([]);
    expect(sched.output.stdout).not.toMatch(/of-the-operator|of the operator/);
    expect(await statusWith(sched, TEST_KEY)).toBe(200);
    expect(await statusWith(sched, LIVE_KEY)).toBe(200);
    for (const mode of ['test', 'live']) {
      const shown = await runCommand(['secret', 'show', '--mode', mode, '--json'], {
        dataDir: sched.dataDir,
      });
      expect(JSON.parse(shown.stdout)).toMatchObject([{ secret: SECRET }]);
    }
    await sched.stop();
    expect(sched.output.stderr).not.toMatch(/of-the-operator|of the operator/);
  });

  test('are added at a later start, beside the generated ones', async () => {
    const dataDir = temporaryDirectory();
    await using first = await startInThread({ dataDir });
    await first.stop();
    await using second = await startInThread({ dataDir, env: PROVIDED });
    expect(second.output.stdout).toMatch(onlyTheAddress);
    expect(await statusWith(second, TEST_KEY)).toBe(200);
    expect(await statusWith(second, first.testKey)).toBe(200);
    const shown = await runCommand(['secret', 'show', '--mode', 'test', '--json'], { dataDir });
    expect(JSON.parse(shown.stdout)).toMatchObject([
      { secret: SECRET, expires_at: null },
      { secret: secretsIn(first.output)[2], expires_at: expect.stringMatching(/Z$/) },
    ]);
  });

  test('a key of another project is a bad setting', async () => {
    const dataDir = temporaryDirectory();
    const settings = readControlSettings({ flags: {}, env: await storeSettings(dataDir) });
    await withSecrets(
      settings,
      async (harness) => addKey(harness, await createProject(harness, 'shop'), 'live', LIVE_KEY),
      true,
    );
    const { code, stderr } = await runCommand(['serve'], { dataDir, env: { ...PROVIDED, SCHED_PORT: '0' } });
    expect(code).toBe(2);
    expect(stderr).toMatch(/^sched: SCHED_BOOTSTRAP_LIVE_KEY .*another project\.\n$/);
  });

  test('a secret that is not whsec_ and base64 is a bad setting while a profile uses Standard Webhooks', async () => {
    const dataDir = temporaryDirectory();
    await using first = await startInThread({ dataDir });
    const headers = { authorization: `Bearer ${first.testKey}` };
    const post = async (url: string, path: string, body: object) => {
      const answer = await fetch(`${url}/v1${path}`, { method: 'POST', headers, body: JSON.stringify(body) });
      return (await answer.json()) as { readonly id: string };
    };
    const profile = { url: 'https://example.com/hook', standard_webhooks: true };
    const { id } = await post(first.url, '/endpoints', profile);
    await first.stop();

    const env = { SCHED_BOOTSTRAP_SIGNING_SECRET: SECRET };
    const { code, stderr } = await runCommand(['serve'], { dataDir, env: { ...env, SCHED_PORT: '0' } });
    expect([code, stderr]).toEqual([
      2,
      `sched: SCHED_BOOTSTRAP_SIGNING_SECRET must be whsec_ and base64, because the endpoint profile ${id} uses Standard Webhooks.\n`,
    ]);
    const fitting = {
      SCHED_BOOTSTRAP_SIGNING_SECRET: 'whsec_b2YgdGhlIG9wZXJhdG9yLCBhdCBsZWFzdCAyNCBieXRlcw==',
    };
    await using second = await startInThread({ dataDir, env: fitting });
    await post(second.url, `/endpoints/${id}/archive`, {});
    await second.stop();
    await using third = await startInThread({ dataDir, env });
    expect(third.output.stdout).toMatch(onlyTheAddress);
  });

  test('an empty setting counts as unset', async () => {
    // PostgreSQL cannot be used without a master key.
    const names = [...Object.keys(PROVIDED), 'SCHED_LOG_LEVEL', ...(IS_POSTGRES ? [] : ['SCHED_MASTER_KEY'])];
    await using sched = await startInThread({ env: Object.fromEntries(names.map((name) => [name, ''])) });
    expect(secretsIn(sched.output)).toHaveLength(4);
  });
});

test('flags take precedence over the environment', async () => {
  await using sched = await startInThread({
    env: { SCHED_HOST: 'no.such.host.invalid', SCHED_LOG_LEVEL: 'no level' },
    args: ['--host', '127.0.0.1', '--log-level', 'silent'],
  });
  await sched.stop();
  expect(sched.output.stderr).toBe('');
});

test('the metrics contain the verbs of the store', async () => {
  await using sched = await startInThread();
  expect(await statusWith(sched, sched.testKey)).toBe(200);
  const metrics = await (await fetch(`${sched.url}/metrics`)).text();
  expect(metrics).toMatch(/^sched_store_verb_duration_seconds_count\{verb="listSchedules"\} 1$/m);
});
