/**
 * Runs the snippets of docs/verifying.md, unchanged, against the vectors. Each installed language runs its snippet with
 * a small driver, which reads one vector per line and prints one word for each.
 */
import { execFile, spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { temporaryDirectory } from '#test/process/sched-process.ts';
import { DRIVERS, type Driver } from './language-drivers.ts';
import { VECTORS, type Vector } from './vectors.ts';

const PAGE = readFileSync(join(import.meta.dirname, '../../docs/verifying.md'), 'utf8');
const RUN_MS_MAX = 50_000;
const HEADERS = ['Sched-Timestamp', 'Sched-Signature', 'Sched-Delivery-Id', 'Sched-Attempt'];

/** The first code block below the heading. */
function snippet({ heading, fence }: Driver): string {
  const section = PAGE.split(`\n### ${heading}\n`)[1] ?? '';
  return section.split(`\`\`\`${fence}\n`)[1]?.split('```')[0] ?? '';
}

/** Values in base64, separated by tabs. Every standard library can read that. */
function line({ now, secrets, request }: Vector): string {
  const [path = ''] = request.url.split('?', 1);
  // The period keeps an empty secret visible. The driver removes it.
  const texts = [request.method, path, ...HEADERS.map((name) => request.headers[name] ?? '')];
  const fields = [
    secrets.map((secret) => base64(`.${secret}`)).join(','),
    ...texts.map(base64),
    request.body,
  ];
  return [now, ...fields].join('\t');
}

function base64(text: string): string {
  return Buffer.from(text).toString('base64');
}

function isInstalled({ probe: [command, ...args] }: Driver): boolean {
  return spawnSync(command, args, { stdio: 'ignore' }).status === 0;
}

function run(directory: string, [command, ...args]: Driver['probe'], input: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const done = (error: Error | null, stdout: string, stderr: string) =>
      error === null ? resolve(stdout) : reject(new Error(`${command}: ${stderr}`, { cause: error }));
    const child = execFile(command, args, { cwd: directory, timeout: RUN_MS_MAX }, done);
    child.stdin?.end(input);
  });
}

async function answers(driver: Driver): Promise<readonly string[]> {
  const directory = temporaryDirectory();
  for (const [name, text] of Object.entries(driver.files(snippet(driver)))) {
    mkdirSync(dirname(join(directory, name)), { recursive: true });
    writeFileSync(join(directory, name), text);
  }
  for (const command of driver.build ?? []) await run(directory, command, '');
  const written = await run(directory, driver.run, `${VECTORS.map(line).join('\n')}\n`);
  return written.trim().split(/\r?\n/);
}

describe.concurrent('the snippets of docs/verifying.md', () => {
  for (const driver of DRIVERS) {
    const installed = isInstalled(driver);
    const name = installed ? driver.heading : `${driver.heading}: ${driver.probe[0]} is not installed here`;
    it.skipIf(!installed)(name, async () => {
      const answered = await answers(driver);
      const given = VECTORS.map(({ name }, i) => [name, answered[i]]);
      expect(given).toEqual(VECTORS.map(({ name, expected }) => [name, `${expected === 'verified'}`]));
      expect(answered).toHaveLength(VECTORS.length);
    });
  }
});
