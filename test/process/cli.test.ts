import { existsSync, readdirSync, rmSync } from 'node:fs';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { readControlSettings } from '#src/app/config.ts';
import { withControl } from '#src/app/control-session.ts';
import { runCommand, startInThread } from './run-command.ts';
import { runSched, startSched, temporaryDirectory } from './sched-process.ts';
import { IS_POSTGRES, storeSettings } from './store-in-use.ts';

const REVOCATION_MS_MAX = 5_000;
/** PostgreSQL has an empty database. */
const NO_DATABASE = IS_POSTGRES
  ? /^sched: The store .+ has schema version 0.+ run `sched migrate`\.\n$/
  : /^sched: There is no database in .+\n$/;
/** With PostgreSQL the master key is always set. */
const NO_SECRETS = IS_POSTGRES ? /There is no project "nope"/ : /The master key .* is missing/;

async function statusWith(sched: { readonly url: string }, key: string): Promise<number> {
  const answer = await fetch(`${sched.url}/v1/schedules`, { headers: { authorization: `Bearer ${key}` } });
  await answer.body?.cancel();
  return answer.status;
}

/** Returns the answer of a command with `--json`. It must succeed and write nothing to standard error. */
async function json(dataDir: string, ...args: readonly string[]): Promise<unknown> {
  const { code, stdout, stderr } = await runCommand([...args, '--json'], { dataDir });
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  return JSON.parse(stdout);
}

async function newKey(dataDir: string, ...args: readonly string[]): Promise<{ id: string; key: string }> {
  const answer = await json(dataDir, 'key', 'create', ...args);
  expect(answer).toMatchObject({ id: expect.any(String), key: expect.any(String) });
  return answer as { id: string; key: string };
}

async function migrated(): Promise<string> {
  const dataDir = temporaryDirectory();
  await json(dataDir, 'migrate');
  return dataDir;
}

let empty: Promise<string> | null = null;
/** An empty database, for commands that are refused. */
function emptyDatabase(): Promise<string> {
  empty ??= migrated();
  return empty;
}

async function auditOf(dataDir: string): Promise<readonly string[]> {
  const settings = readControlSettings({ flags: {}, env: await storeSettings(dataDir) });
  const filter = { userId: null, projectId: null, action: null };
  const entries = await withControl(settings, ({ store }) => store.people.listAudit(filter, null, 99));
  const byCommand = { actor: 'command line', userId: null, detail: { os_user: userInfo().username } };
  for (const entry of entries) expect(entry).toMatchObject(byCommand);
  return entries.map(({ action, subject, code }) => `${action} ${subject}${code === null ? '' : ` ${code}`}`);
}

describe('people', () => {
  test('are invited by a link that is shown once, listed and withdrawn, and all of it is audited', async () => {
    const dataDir = await migrated();
    await json(dataDir, 'project', 'create', 'shop');
    const args = ['--role', 'operator', '--projects', 'shop', '--url', 'https://sched.example.com/'];
    const made = (await json(dataDir, 'user', 'create', ...args)) as { id: string; link: string };
    expect(made).toMatchObject({ role: 'operator', projects: ['shop'], created_by: 'command line' });
    const [, token = ''] =
      /^https:\/\/sched\.example\.com\/dashboard\/invite#([\w-]{43})$/.exec(made.link) ?? [];
    expect(token).not.toBe('');
    const listed = await runCommand(['user', 'list'], { dataDir });
    expect(listed.stdout).toMatch(/^NAME +ROLE +PROJECTS +CREATED +LAST SEEN\n\nINVITATION /);
    expect(listed.stdout).toMatch(new RegExp(`^${made.id} +operator +shop +command line +\\S+Z$`, 'm'));
    expect(listed.stdout).not.toContain(token);
    await json(dataDir, 'user', 'remove', made.id);
    const nobody = await runCommand(['user', 'remove', 'ada'], { dataDir });
    expect(nobody).toEqual({
      code: 1,
      stdout: '',
      stderr: 'sched: There is no user "ada". Check the name.\n',
    });
    const wrong = await runCommand(['user', 'create', '--url', 'ftp://x'], { dataDir });
    expect(wrong).toMatchObject({ code: 2, stdout: '' });
    expect(await auditOf(dataDir)).toEqual([
      'user.remove ada unknown_user',
      `invitation.remove ${made.id}`,
      `invitation.create ${made.id}`,
      'project.create shop',
    ]);
  });
});

test('the link of an invitation leads to the configured origin of the dashboard', async () => {
  const dataDir = await migrated();
  const linkOf = async (args: readonly string[], env: Readonly<Record<string, string>>) => {
    const { stdout } = await runCommand(['user', 'create', '--json', ...args], { dataDir, env });
    return (JSON.parse(stdout) as { readonly link: string }).link.split('/dashboard/')[0];
  };
  const env = { SCHED_PUBLIC_URL: 'https://sched.example.com,http://sched.internal' };
  expect(await linkOf([], {})).toBe('http://127.0.0.1:8080');
  expect(await linkOf([], env)).toBe('https://sched.example.com');
  expect(await linkOf(['--url', 'https://proxy.example/sched'], env)).toBe('https://proxy.example/sched');
});

describe('beside the running service', () => {
  test('a new key works at once, and a revoked one is refused within a second', async () => {
    await using sched = await startSched();
    const { id, key } = await newKey(sched.dataDir, '--mode', 'test');
    expect(key).toMatch(/^sk_test_[0-9A-Za-z]{32}$/);
    expect(await statusWith(sched, key)).toBe(200);

    // Requests are sent all the time, so that the service has just cached the key.
    const revoked = new AbortController();
    const asking = (async () => {
      while (!revoked.signal.aborted) expect([200, 401]).toContain(await statusWith(sched, key));
    })();
    const answer = await json(sched.dataDir, 'key', 'revoke', id);
    const at = performance.now();
    revoked.abort();
    await asking;
    expect(answer).toEqual({ id, revoked: true });
    while ((await statusWith(sched, key)) === 200)
      expect(performance.now() - at).toBeLessThan(REVOCATION_MS_MAX);
    expect(await statusWith(sched, key)).toBe(401);
    expect(await statusWith(sched, sched.testKey)).toBe(200);
  });

  test('a new project has its own keys, and sees nothing of the others', async () => {
    await using sched = await startInThread();
    const { dataDir } = sched;
    expect(await json(dataDir, 'project', 'create', 'shop')).toMatchObject({
      name: 'shop',
      version: '2026-11-15',
    });
    const { key } = await newKey(dataDir, '--project', 'shop', '--mode', 'live');
    const create = await fetch(`${sched.url}/v1/schedules`, {
      method: 'POST',
      headers: { authorization: `Bearer ${sched.liveKey}` },
      body: JSON.stringify({ endpoint: 'https://example.com', delay: '1h' }),
    });
    expect(create.status).toBe(201);
    const seen = await fetch(`${sched.url}/v1/schedules`, { headers: { authorization: `Bearer ${key}` } });
    expect(await seen.json()).toMatchObject({ data: [] });
  });
});

describe('projects', () => {
  test('are listed in the order of their creation, as JSON and as a table', async () => {
    const dataDir = temporaryDirectory();
    await json(dataDir, 'project', 'create', 'shop');
    await json(dataDir, 'project', 'create', 'a');
    expect(await json(dataDir, 'project', 'list')).toMatchObject([{ name: 'shop' }, { name: 'a' }]);
    const { stdout } = await runCommand(['project', 'list'], { dataDir });
    const [header = '', shop = '', a = '', ...rest] = stdout.split('\n');
    expect(rest).toEqual(['']);
    expect(header).toMatch(/^NAME {2}ID +VERSION {5}CREATED$/);
    expect(shop).toMatch(/^shop {2}prj_\w{26} {2}2026-11-15 {2}\S+Z$/);
    expect(a).toMatch(/^a {5}prj_\w{26} {2}2026-11-15 {2}\S+Z$/);
  });

  test('the first one creates the database, which the service then uses', async () => {
    const dataDir = join(temporaryDirectory(), 'new');
    await json(dataDir, 'project', 'create', 'shop');
    const { key } = await newKey(dataDir, '--project', 'shop', '--mode', 'test');
    await using sched = await startInThread({ dataDir });
    expect(await statusWith(sched, key)).toBe(200);
  });
});

describe('keys', () => {
  test('are listed without the key itself, revoked ones with the time of the revocation', async () => {
    const dataDir = await migrated();
    await json(dataDir, 'project', 'create', 'default');
    const first = await newKey(dataDir, '--mode', 'test');
    const second = await newKey(dataDir, '--mode', 'live');
    await json(dataDir, 'key', 'revoke', first.id);
    const list = await json(dataDir, 'key', 'list');
    expect(list).toEqual([
      {
        id: first.id,
        project: 'default',
        mode: 'test',
        hint: first.key.slice(-4),
        created_at: expect.stringMatching(/Z$/),
        last_used_at: null,
        revoked_at: expect.stringMatching(/Z$/),
      },
      expect.objectContaining({ id: second.id, mode: 'live', revoked_at: null }),
    ]);
    const { stdout } = await runCommand(['key', 'list'], { dataDir });
    expect(stdout).toMatch(/^ID +MODE +KEY +CREATED +LAST USED +REVOKED\n/);
    for (const { id, key } of [first, second]) {
      expect(stdout).toContain(`${id}  `);
      expect(stdout).not.toContain(key);
    }
  });

  test('a new key is printed once, on its own line', async () => {
    const dataDir = await migrated();
    await json(dataDir, 'project', 'create', 'default');
    const { stdout } = await runCommand(['key', 'create', '--mode', 'live'], { dataDir });
    expect(stdout).toMatch(/not shown again:\n\n {2}sk_live_[0-9A-Za-z]{32}\n/);
  });
});

describe('secrets', () => {
  test('a rotation keeps the old secret for the overlap', async () => {
    const dataDir = temporaryDirectory();
    await json(dataDir, 'project', 'create', 'default');
    const [old] = (await json(dataDir, 'secret', 'show', '--mode', 'test')) as { secret: string }[];
    const rotated = await json(dataDir, 'secret', 'rotate', '--mode', 'test', '--overlap', '1h30m');
    expect(rotated).toEqual([
      expect.objectContaining({ secret: expect.stringMatching(/^whsec_/), expires_at: null }),
      { ...old, expires_at: expect.stringMatching(/Z$/) },
    ]);
    expect(await json(dataDir, 'secret', 'show', '--mode', 'test')).toEqual(rotated);
    const { stdout } = await runCommand(['secret', 'show', '--mode', 'test'], { dataDir });
    expect(stdout).toMatch(/^SECRET +ID +CREATED +SIGNS UNTIL\nwhsec_/);
    const shown = (await auditOf(dataDir)).filter((line) => line.startsWith('secret.reveal'));
    expect(shown).toHaveLength(3);
    const modeless = await runCommand(['secret', 'show'], { dataDir });
    expect(modeless).toMatchObject({ code: 2, stdout: '', stderr: expect.stringContaining('--mode') });
  });

  test('an endpoint profile has its own: they are created, shown, rotated and removed, and audited', async () => {
    const dataDir = temporaryDirectory();
    await json(dataDir, 'project', 'create', 'default');
    const { key } = await newKey(dataDir, '--mode', 'test');
    await using sched = await startInThread({ dataDir });
    const answer = await fetch(`${sched.url}/v1/endpoints`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${key}`,
        'content-type': 'application/json',
        'idempotency-key': 'ep',
      },
      body: '{"url":"https://receiver.example/"}',
    });
    const { id } = (await answer.json()) as { id: string };
    const where = ['--endpoint', id];
    const none = await runCommand(['secret', 'show', ...where], { dataDir });
    expect(none.stdout).toBe(
      "This endpoint profile has no signing secret. The project's secrets sign its deliveries.\n",
    );
    const created = await json(dataDir, 'secret', 'create', ...where, '--overlap', '0');
    const own = expect.objectContaining({ secret: expect.stringMatching(/^whsec_/), expires_at: null });
    expect(created).toEqual([own]);
    const shown = await runCommand(['secret', 'show', ...where], { dataDir });
    expect(shown.stdout).toMatch(/^SECRET +ID +CREATED +SIGNS UNTIL +ALONE FROM\nwhsec_/);
    const twice = await runCommand(['secret', 'create', ...where], { dataDir });
    expect([twice.code, twice.stderr]).toEqual([
      1,
      `sched: The endpoint profile ${id} already has its own signing secret. Rotate it instead.\n`,
    ]);
    const rotated = await json(dataDir, 'secret', 'rotate', ...where, '--overlap', '1h');
    expect(rotated).toEqual([own, expect.objectContaining({ expires_at: expect.stringMatching(/Z$/) })]);
    expect(await json(dataDir, 'secret', 'show', '--mode', 'test')).toHaveLength(1);
    expect(await json(dataDir, 'secret', 'remove', ...where, '--overlap', '0')).toEqual([]);
    const acts = (await auditOf(dataDir)).filter((line) => line.includes(id));
    expect(acts.map((line) => /secret\.\w+/.exec(line)?.[0])).toEqual([
      'secret.remove',
      'secret.rotate',
      'secret.create',
      'secret.reveal',
      'secret.create',
      'secret.reveal',
    ]);
  });

  // With PostgreSQL the key comes from the settings, and no command runs without it.
  test.skipIf(IS_POSTGRES)('cannot be shown without the master key, and no key is generated', async () => {
    const dataDir = temporaryDirectory();
    await json(dataDir, 'project', 'create', 'default');
    rmSync(join(dataDir, 'master.key'));
    for (const args of [
      ['secret', 'show', '--mode', 'test'],
      ['secret', 'rotate', '--mode', 'test'],
      ['project', 'create', 'shop'],
    ]) {
      const { code, stdout, stderr } = await runCommand(args, { dataDir });
      expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
      expect(stderr).toMatch(/^sched: The master key .*master\.key is missing.*\n$/);
    }
    expect(existsSync(join(dataDir, 'master.key'))).toBe(false);
  });
});

describe('a command that fails has exit code 1 and one line', () => {
  test.concurrent.each([
    [['key', 'create', '--mode', 'test', '--project', 'nope'], /There is no project "nope"/],
    [['key', 'list', '--project', 'nope'], /There is no project "nope"/],
    [['secret', 'show', '--mode', 'test', '--project', 'nope'], NO_SECRETS],
    [['key', 'revoke', 'key_00000000000000000000000000'], /There is no active key with the id/],
    [['key', 'revoke', 'nonsense'], /There is no active key with the id/],
  ])('%j', async (args, line) => {
    const { code, stdout, stderr } = await runCommand(args, { dataDir: await emptyDatabase() });
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toMatch(/^sched: .+\n$/);
    expect(stderr).toMatch(line);
  });

  test.concurrent.each(['create', 'show', 'rotate', 'remove'])(
    'secret %s of an unknown endpoint profile',
    async (verb) => {
      const dataDir = temporaryDirectory();
      await json(dataDir, 'project', 'create', 'default');
      for (const id of ['ep_00000000000000000000000000', 'nonsense']) {
        const args = ['secret', verb, '--mode', 'test', '--endpoint', id];
        const { code, stdout, stderr } = await runCommand(args, { dataDir });
        expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
        expect(stderr).toBe(
          `sched: There is no endpoint profile "${id}" in this project and mode. Check the id, the project and the mode.\n`,
        );
      }
    },
  );

  test('a project that exists', async () => {
    const dataDir = temporaryDirectory();
    await json(dataDir, 'project', 'create', 'shop');
    const { code, stderr } = await runCommand(['project', 'create', 'shop'], { dataDir });
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: 'sched: A project named shop already exists. Choose another name.\n',
    });
  });

  test.concurrent.each([
    [['project', 'list']],
    [['key', 'create', '--mode', 'test']],
    [['key', 'list']],
    [['key', 'revoke', 'key_00000000000000000000000000']],
    [['secret', 'show', '--mode', 'test']],
    [['secret', 'rotate', '--mode', 'test']],
  ])('without a database, %j creates none', async (args) => {
    const dataDir = temporaryDirectory();
    const { code, stderr } = await runCommand(args, { dataDir });
    expect(code).toBe(1);
    expect(stderr).toMatch(NO_DATABASE);
    expect(readdirSync(dataDir)).toEqual([]);
  });
});

describe('wrong usage: exit code 2 and one line', () => {
  test.concurrent.each([
    [['nonsense']],
    [['serve', '--prot', '1']],
    [['key', 'create']],
    [['key', 'create', '--mode', 'prod']],
    [['key', 'revoke']],
    [['key', 'list', 'surplus']],
    [['project', 'create']],
    [['project', 'create', 'No Such Name']],
    [['secret', 'rotate', '--mode']],
    [['secret', 'create', '--mode', 'test']],
    [['secret', 'remove', '--mode', 'test']],
  ])('%j', async (args) => {
    const { code, stdout, stderr } = await runCommand(args);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toMatch(/^sched: .+\n$/);
  });

  test('an overlap that is negative or not a duration', async () => {
    const dataDir = temporaryDirectory();
    await json(dataDir, 'project', 'create', 'default');
    for (const overlap of ['1d', '-1h', '']) {
      const args = ['secret', 'rotate', '--mode', 'test', `--overlap=${overlap}`];
      const { code, stderr } = await runCommand(args, { dataDir });
      expect(code).toBe(2);
      expect(stderr).toMatch(/^sched: .*overlap.*\n$/);
    }
    expect(await json(dataDir, 'secret', 'show', '--mode', 'test')).toHaveLength(1);
  });
});

test.concurrent('--version and --help', async () => {
  expect(await runSched(['--version'])).toEqual({ code: 0, stdout: '0.3.0\n', stderr: '' });
  const help = await runCommand(['--help']);
  expect(help.code).toBe(0);
  for (const command of ['serve', 'migrate', 'project', 'key', 'secret'])
    expect(help.stdout).toContain(command);
  expect((await runCommand(['serve', '--help'])).stdout).toMatch(
    /--port <number> .*\[SCHED_PORT,\s+default\s+8080\]/s,
  );
});

test.concurrent('migrate creates the database, and can be repeated', async () => {
  const dataDir = join(temporaryDirectory(), 'new');
  const first = await json(dataDir, 'migrate');
  const store: unknown = IS_POSTGRES ? expect.stringMatching(/^postgres:/) : dataDir;
  expect(first).toEqual({ store, schema_version: expect.any(Number) });
  expect(await json(dataDir, 'migrate')).toEqual(first);
});
