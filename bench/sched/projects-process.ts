/**
 * `node projects-process.ts ROOT NAME…` creates projects with the commands of the checkout in ROOT, and prints their
 * keys for test mode as JSON. One process runs all commands, because the start of a process costs more than a command.
 */
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type * as program from '../../src/cli/run-program.ts';

const [root = '', ...names] = process.argv.slice(2);
const { runProgram } = (await import(
  pathToFileURL(join(root, 'src/cli/run-program.ts')).href
)) as typeof program;

async function run(...words: readonly string[]): Promise<string> {
  let printed = '';
  const exit = await runProgram([...words, '--json'], {
    env: process.env,
    stdout: { write: (text: string) => (printed += text) },
    stderr: process.stderr,
    serve: () => Promise.reject(new Error('Nothing is served here.')),
  });
  if (exit !== 0) throw new Error(`sched ${words.join(' ')} ended with exit code ${exit}.`);
  return printed;
}

const keys: string[] = [];
for (const name of names) {
  await run('project', 'create', name);
  const { key } = JSON.parse(await run('key', 'create', '--project', name, '--mode', 'test')) as {
    readonly key: string;
  };
  keys.push(key);
}
process.stdout.write(JSON.stringify(keys));
