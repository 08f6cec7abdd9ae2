/**
 * Builds what `npm pack` adds to the package: the program, bundled into `dist/`. Node strips no types inside
 * node_modules, and a bundle starts faster than hundreds of files. Each command stays a file of its own, so that
 * `sched --version` loads little. better-sqlite3 has native code. It stays a dependency of the package.
 *
 * The program finds its files with `new URL('…', import.meta.url)`. In the bundle such a file is either an entry
 * beside it (a thread), or has the same path below the root as in the checkout. No other use of `import.meta` works
 * in both places, so it fails the build.
 */
import { globSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join, posix, relative, sep } from 'node:path';
import { type OutputChunk, type Plugin, rolldown } from 'rolldown';
import { compileBundle } from './package/compile-bundle.ts';

const ROOT = join(import.meta.dirname, '..');
const DIST = join(ROOT, 'dist');
const MAIN = 'src/cli/main.ts';
/** A file that starts in a thread of its own. */
const THREADS = globSync('src/**/*-thread.ts', { cwd: ROOT }).map(toPosix);
/** The second is not installed. The `pg` package asks for it inside a try block. */
const EXTERNAL = ['better-sqlite3', 'pg-native'];
const OWN_FILE = /new URL\(\s*'([^']+)',\s*import\.meta\.url,?\s*\)/g;

const files: Plugin = {
  name: 'files-of-the-package',
  transform: {
    filter: { id: /\/(src|sdk\/src)\/.*\.ts$/, code: 'import.meta' },
    handler(code, id) {
      const from = toPosix(relative(ROOT, id));
      const bundled = code.replaceAll(OWN_FILE, (_match, path: string) => {
        const file = posix.join(posix.dirname(from), path);
        return `new URL('${THREADS.includes(file) ? `./${entryName(file)}.cjs` : `../${file}`}', import.meta.url)`;
      });
      const rest = code.replaceAll(OWN_FILE, '');
      if (rest.includes('import.meta')) {
        this.error(
          `${from} uses import.meta in a way that the package cannot serve. Write new URL('…', import.meta.url).`,
        );
      }
      return { code: bundled };
    },
  },
};

const bundle = await rolldown({
  cwd: ROOT,
  platform: 'node',
  input: Object.fromEntries([MAIN, ...THREADS].map((path) => [entryName(path), path])),
  external: EXTERNAL,
  plugins: [files],
  onLog(level, log) {
    if (level === 'warn') throw new Error(log.message);
  },
});
const { output } = await bundle.write({
  dir: DIST,
  cleanDir: true,
  format: 'cjs',
  // Stack traces and logs name functions and classes.
  keepNames: true,
  banner: "'use strict';",
  comments: { legal: true, annotation: false, jsdoc: false },
  entryFileNames: ({ name }) => (name.endsWith('-thread') ? `${name}-code.cjs` : `${name}.cjs`),
  chunkFileNames: '[name].cjs',
});
await bundle.close();
const chunks = output.filter((file) => file.type === 'chunk');
for (const { fileName, code } of chunks) writeFileSync(join(DIST, fileName), withoutUnicode(code));
for (const path of THREADS) {
  const name = entryName(path);
  writeFileSync(join(DIST, `${name}.cjs`), `require('../bin/load.cjs').load('./${name}-code.cjs');\n`);
}
writeFileSync(join(DIST, 'licenses.txt'), licenses(chunks));
await compileBundle(DIST);

function entryName(path: string): string {
  return basename(path, '.ts');
}

/** Escapes all characters beyond ASCII, which are in strings and comments only. Node reads and keeps such a file faster. */
function withoutUnicode(code: string): string {
  return code.replaceAll(/[^\0-\x7f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

function toPosix(path: string): string {
  return path.replaceAll(sep, '/');
}

/** The licences of the bundled packages ask for a copy of their text. */
function licenses(chunks: readonly OutputChunk[]): string {
  const folders = new Set(
    chunks.flatMap((chunk) => chunk.moduleIds.flatMap((id) => packageFolder(id) ?? [])),
  );
  return [...folders]
    .map((folder) => {
      const { name, version, license } = JSON.parse(
        readFileSync(join(folder, 'package.json'), 'utf8'),
      ) as Record<string, string>;
      const [file] = globSync('{LICENSE,LICENCE,license,licence}*', { cwd: folder });
      if (file === undefined && license === undefined) throw new Error(`${name} has no licence.`);
      const text = file === undefined ? '' : `\n${readFileSync(join(folder, file), 'utf8').trim()}\n`;
      return `${name} ${version}: ${license}\n${text}`;
    })
    .toSorted()
    .join(`\n${'-'.repeat(80)}\n\n`);
}

/** The folder of the package that a module belongs to, or null for a module of Sched. */
function packageFolder(id: string): string | null {
  return /^.*\/node_modules\/(?:@[^/]+\/)?[^/]+(?=\/)/.exec(toPosix(id))?.[0] ?? null;
}
