/**
 * The project of a reader: an empty folder with `@sched/sdk` and the frameworks of the pages. The package points to the
 * sources of this checkout, so that nothing has to be built. Other tests check the built package.
 */
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { temporaryDirectory } from '#test/process/sched-process.ts';
import { ROOT } from './pages.ts';

const INSTALLED = ['express', 'fastify', 'hono', 'pg', '@types'];

interface SdkPackage {
  readonly exports: Readonly<Record<string, { readonly import: { readonly default: string } } | string>>;
}

const { exports } = JSON.parse(readFileSync(join(ROOT, 'sdk/package.json'), 'utf8')) as SdkPackage;

/** Maps the entry points of the package to their sources: `@sched/sdk/fetch` to `…/receiver/fetch.ts`. */
export const SDK_SOURCES: Readonly<Record<string, string>> = Object.fromEntries(
  Object.entries(exports).flatMap(([way, target]) => {
    if (typeof target === 'string') return [];
    const source = target.import.default.replace('./dist/esm/', 'sdk/src/').replace(/\.js$/, '.ts');
    return [[join('@sched/sdk', way), join(ROOT, source)]];
  }),
);

export function readersProject(): string {
  const folder = temporaryDirectory();
  const modules = join(folder, 'node_modules');
  for (const name of INSTALLED) link(join(ROOT, 'node_modules', name), join(modules, name));
  const ways: Record<string, string> = {};
  for (const [n, [name, source]] of Object.entries(SDK_SOURCES).entries()) {
    ways[name.replace('@sched/sdk', '.')] = `./way-${n}.js`;
    write(join(modules, '@sched/sdk', `way-${n}.js`), `export * from ${JSON.stringify(source)};\n`);
  }
  write(join(modules, '@sched/sdk/package.json'), JSON.stringify({ type: 'module', exports: ways }));
  write(join(folder, 'package.json'), JSON.stringify({ type: 'module' }));
  return folder;
}

export function write(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}

function link(target: string, path: string): void {
  mkdirSync(dirname(path), { recursive: true });
  symlinkSync(target, path);
}
