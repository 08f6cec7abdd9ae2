/** What the commands load. A person waits for them, so they must not load the server and the stores. */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

const ROOT = join(import.meta.dirname, '../..');
const PACKAGE = /\/node_modules\/((?:@[^/]+\/)?[^/]+)\//;

/** Runs the commands in turn, and prints after each one which modules are loaded by then. */
const SCRIPT = `
  import { registerHooks } from 'node:module';
  const loaded = [];
  registerHooks({
    load(url, context, next) {
      if (url.startsWith('file:')) loaded.push(url);
      return next(url, context);
    },
  });
  const stream = { write: () => true };
  const { runCommand } = await import('./src/cli/main.ts');
  const after = [];
  for (const words of JSON.parse(process.argv[1])) {
    await runCommand(words, { env: { SCHED_SIGNING_SECRET: 'whsec_x' }, stdout: stream, stderr: stream });
    after.push([...loaded]);
  }
  console.log(JSON.stringify(after));`;

async function loadedAfter(...commands: readonly (readonly string[])[]): Promise<readonly string[][]> {
  const args = ['--input-type=module', '-e', SCRIPT, JSON.stringify(commands)];
  const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: ROOT });
  return JSON.parse(stdout) as string[][];
}

function packagesOf(urls: readonly string[]): readonly string[] {
  return [...new Set(urls.flatMap((url) => PACKAGE.exec(url)?.[1] ?? []))].sort();
}

test('the version, the help, the tools and the calls of the API load neither the server nor a store', async () => {
  const [version = [], help = [], ...others] = await loadedAfter(
    ['--version'],
    ['--help'],
    // Completion shows every command, so it loads the whole tree.
    ['completion', 'bash'],
    ['preview', '0 9 * * *', '--tz', 'Europe/Berlin'],
    ['verify', '--path', '/', '--header', 'Sched-Attempt: 1'],
    // The command ends without a request, but after it has loaded the client.
    ['schedules', 'list', '--context', 'missing'],
  );
  expect(version.length).toBeLessThan(12);
  expect(packagesOf(version)).toEqual([]);
  expect(packagesOf(help)).toEqual(['commander']);
  expect(help.filter((url) => /-commands?\.ts$/.test(url))).toEqual([]);
  const all = ['commander', 'ipaddr.js', 'lru-cache', 'temporal-polyfill', 'temporal-utils'];
  expect(packagesOf(others.at(-1) ?? [])).toEqual(all);
  expect(others.at(-1)?.filter((url) => /\/src\/(?:engine|store|api|commands)\//.test(url))).toEqual([
    // The settings check the address of the database.
    expect.stringContaining('/src/store/postgres/address.ts'),
  ]);
});
