/** Contexts, as commands store and use them. */
import { chmodSync, readdirSync, readFileSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { basename, dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { temporaryDirectory } from '#test/process/sched-process.ts';
import { runPiped, startAtTerminal } from './command.ts';

const TEST_KEY = 'sk_test_contextCONTEXT0123456789';
const LIVE_KEY = 'sk_live_contextCONTEXT0123456789';

/** A service that answers every list with an empty page and records the keys it receives. */
let server: Server;
let url = '';
const keys: (string | undefined)[] = [];
beforeAll(async () => {
  server = createServer(({ headers }, response) => {
    keys.push(headers.authorization);
    response.end('{"object":"list","data":[],"has_more":false,"next_cursor":null}');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => server.close());

function store() {
  const path = join(temporaryDirectory(), 'config', 'contexts.json');
  const env = { SCHED_CONFIG: path };
  const context = (args: readonly string[], input?: string) =>
    runPiped(['context', ...args], { env, ...(input === undefined ? {} : { input }) });
  return { path, env, context };
}

describe('contexts', () => {
  test('a context is set from a pipe, listed without its key, used and removed', async () => {
    const { path, env, context } = store();
    const set = await context(['set', 'staging', '--url', `${url}/`], `${TEST_KEY}\n`);
    expect(set).toEqual({
      code: 0,
      stdout: 'Context staging is stored. It is the current context.\n',
      stderr: '',
    });
    expect(statSync(path).mode & 0o777).toBe(0o600);
    await context(['set', 'production', '--url', 'https://sched.example.com'], LIVE_KEY);

    const { stdout } = await context(['list']);
    expect(stdout.split('\n').map((line) => line.split(/ {2,}/))).toEqual([
      ['NAME', 'CURRENT', 'MODE', 'KEY', 'URL'],
      ['staging', 'yes', 'test', '…6789', url],
      ['production', '-', 'live', '…6789', 'https://sched.example.com'],
      [''],
    ]);
    expect((await context(['list', '--json'])).stdout).not.toContain('CONTEXT');

    expect((await runPiped(['schedules', 'list'], { env })).code).toBe(0);
    expect(keys).toEqual([`Bearer ${TEST_KEY}`]);

    await context(['use', 'production']);
    expect(JSON.parse((await context(['list', '--json'])).stdout)).toMatchObject([
      { name: 'staging', current: false },
      { name: 'production', current: true },
    ]);
    // Another context is current now. Its key does not belong to this address.
    const refused = await runPiped(['schedules', 'list', '--url', url], { env });
    expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining('key of context production') });
    expect((await runPiped(['schedules', 'list', '--context', 'staging'], { env })).code).toBe(0);
    expect(keys).toHaveLength(2);

    expect((await context(['remove', 'production'])).stdout).toContain('There is no current context now.');
    expect(readFileSync(path, 'utf8')).not.toContain(LIVE_KEY);
  });

  test.concurrent('at a terminal, a prompt asks for the key and does not show it', async () => {
    const { path, env } = store();
    await using terminal = startAtTerminal(['context', 'set', 'staging', '--url', url], { env });
    await terminal.waitForText(/API key \(not shown\): /);
    terminal.type(`${TEST_KEY}\r`);
    expect(await terminal.ended).toBe(0);
    expect(terminal.screen).toContain('Context staging is stored.');
    expect(terminal.screen).not.toContain('sk_test');
    expect(readFileSync(path, 'utf8')).toContain(TEST_KEY);
  });

  test.concurrent('a file that others can read causes a warning on standard error', async () => {
    const { path, env, context } = store();
    await context(['set', 'staging', '--url', url], TEST_KEY);
    chmodSync(path, 0o640);
    const { code, stdout, stderr } = await runPiped(['schedules', 'list', '--json'], { env });
    expect({ code, stdout }).toEqual({ code: 0, stdout: '[]\n' });
    expect(stderr).toBe(
      `sched: warning: Others can read ${path}, and it holds API keys. Run: chmod 600 ${path}\n`,
    );
  });
});

test.concurrent('contexts that several processes store at once are all kept, despite a stale lock', async () => {
  const { path, context } = store();
  await context(['set', 'first', '--url', url], TEST_KEY);
  writeFileSync(`${path}.lock`, '');
  utimesSync(`${path}.lock`, 0, 0);
  const names = ['a', 'b', 'c', 'd', 'e', 'f'];
  const ends = await Promise.all(names.map((name) => context(['set', name, '--url', url], TEST_KEY)));
  expect(ends.map(({ code }) => code)).toEqual(names.map(() => 0));
  const stored = JSON.parse(readFileSync(path, 'utf8')) as { readonly contexts: object };
  expect(Object.keys(stored.contexts).sort()).toEqual([...names, 'first']);
  expect(readdirSync(dirname(path))).toEqual([basename(path)]);
});

test.concurrent('other processes can store contexts while one waits at its prompt', async () => {
  const { path, env, context } = store();
  await using terminal = startAtTerminal(['context', 'set', 'asked', '--url', url], { env });
  await terminal.waitForText(/API key/);
  await context(['set', 'meanwhile', '--url', url], LIVE_KEY);
  terminal.type(`${TEST_KEY}\r`);
  expect(await terminal.ended).toBe(0);
  expect(readFileSync(path, 'utf8')).toContain(LIVE_KEY);
});

test.concurrent.each<[readonly string[], string | undefined, number, string]>([
  [['set', 'staging'], TEST_KEY, 2, '--url'],
  [['set', 'staging', '--url', 'example.com'], TEST_KEY, 2, '--url must be an address'],
  [['set', 'No Name', '--url', 'https://e.com'], TEST_KEY, 2, 'A context name has'],
  [['set', 'staging', '--url', 'https://e.com'], 'not a key', 2, 'must be an API key'],
  [['set', 'staging', '--url', 'https://e.com'], '', 2, 'must be an API key'],
  [['use', 'nope'], undefined, 2, 'There is no context "nope"'],
  [['remove', 'nope'], undefined, 2, 'There is no context "nope"'],
])('context %j with input %j is refused', async (args, input, exit, why) => {
  const { code, stdout, stderr } = await store().context(args, input);
  expect({ code, stdout }).toEqual({ code: exit, stdout: '' });
  expect(stderr).toContain(why);
});
