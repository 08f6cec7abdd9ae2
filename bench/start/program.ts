/**
 * The program as users install it: the files of `npm pack`, unpacked. Its dependencies are those of the checkout, so
 * that no registry is needed.
 */
import { execFile } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** Builds the package of the checkout in `root` and unpacks it. Returns the folder of the program. */
export async function unpackProgram(root: string, to: string): Promise<string> {
  mkdirSync(to, { recursive: true });
  await run(process.execPath, ['scripts/build-dashboard.ts'], { cwd: root });
  await run(process.execPath, ['scripts/build-package.ts'], { cwd: root });
  await run('npm', ['pack', '--ignore-scripts', '--pack-destination', to], { cwd: root });
  const tarball = readdirSync(to).find((name) => name.endsWith('.tgz')) ?? '';
  await run('tar', ['-xzf', tarball], { cwd: to });
  const program = join(to, 'package');
  linkDependencies(root, program, join(to, 'node_modules'));
  return program;
}

function linkDependencies(root: string, program: string, modules: string): void {
  const { dependencies = {} } = JSON.parse(readFileSync(join(program, 'package.json'), 'utf8')) as {
    readonly dependencies?: Readonly<Record<string, string>>;
  };
  for (const name of Object.keys(dependencies)) {
    const link = join(modules, name);
    mkdirSync(dirname(link), { recursive: true });
    symlinkSync(join(root, 'node_modules', name), link);
  }
}
