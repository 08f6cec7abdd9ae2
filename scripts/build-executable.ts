/**
 * Builds `build/sched-VERSION-linux-ARCH`: one file that needs neither Node nor npm on the machine. It is the runtime
 * of the package with the files of the package inside (Node's single executable applications). At its start it unpacks
 * them: see `executable/unpack.ts`. The file is then tried: `sched dev` sends a delivery, with nothing else in reach.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  chmodSync,
  copyFileSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { rolldown } from 'rolldown';
import { sendFirstDelivery } from './package/first-delivery.ts';

const ROOT = join(import.meta.dirname, '..');
const TARGET = `linux-${process.arch}`;
/** Parts of the package that the program does not read. */
const NOT_NEEDED = /^((docs|deploy|sdk)\/|compose\.|Dockerfile$)|\.md$/;
/** The name of the resource and the fuse are part of Node. */
const RESOURCE = 'NODE_SEA_BLOB';
const FUSE = 'NODE_SEA_FUSE_fce680ab2cc467b6e072b8b5df1996b2';

const require = createRequire(import.meta.url);
const { version } = require('../package.json') as { readonly version: string };
const output = join(ROOT, 'build', `sched-${version}-${TARGET}`);
const work = mkdtempSync(join(tmpdir(), 'sched-executable-'));
try {
  await build();
  await tryOut();
} finally {
  rmSync(work, { recursive: true, force: true });
}
console.log(output);

async function build(): Promise<void> {
  const runtime = require.resolve(`node-${TARGET}/bin/node`);
  const files = new Map([
    ...packageFiles(),
    ...nativeFiles(),
    ['dist/license-of-node.txt', join(dirname(runtime), '../LICENSE')],
  ]);
  writeFileSync(join(work, 'digest'), digestOf(files));
  const config = {
    main: await bundledMain(),
    output: join(work, 'blob'),
    disableExperimentalSEAWarning: true,
    assets: { ...Object.fromEntries(files), digest: join(work, 'digest') },
  };
  writeFileSync(join(work, 'config.json'), JSON.stringify(config));
  execFileSync(runtime, ['--experimental-sea-config', join(work, 'config.json')], { stdio: 'ignore' });
  mkdirSync(dirname(output), { recursive: true });
  copyFileSync(runtime, output);
  const inject = require.resolve('postject/dist/cli.js');
  const args = [inject, output, RESOURCE, config.output, '--sentinel-fuse', FUSE];
  const { status, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' });
  if (status !== 0) throw new Error(`The files could not be added to the runtime.\n${stderr}`);
  chmodSync(output, 0o755);
}

/** What `npm pack` packs, by path in the package. It builds first. */
function packageFiles(): readonly (readonly [string, string])[] {
  execFileSync('npm', ['run', '--silent', 'prepack'], { cwd: ROOT, stdio: 'inherit' });
  const listed = execFileSync('npm', ['pack', '--dry-run', '--json', '--ignore-scripts'], { cwd: ROOT });
  const [{ files }] = JSON.parse(String(listed)) as [
    { readonly files: readonly { readonly path: string }[] },
  ];
  return files
    .map(({ path }) => path)
    .filter((path) => !NOT_NEEDED.test(path))
    .map((path) => [path, join(ROOT, path)]);
}

/** better-sqlite3 with its binary for this platform alone. */
function nativeFiles(): readonly (readonly [string, string])[] {
  const folder = dirname(require.resolve('better-sqlite3/package.json'));
  const paths = globSync(['package.json', 'LICENSE', 'lib/**/*.js', `prebuilds/${TARGET}.node`], {
    cwd: folder,
  });
  return paths.map((path) => [join('node_modules/better-sqlite3', path), join(folder, path)]);
}

function digestOf(files: ReadonlyMap<string, string>): string {
  const hash = createHash('sha256');
  for (const [path, file] of files) {
    const content = readFileSync(file);
    hash.update(`${path}\0${content.byteLength}\0`).update(content);
  }
  return hash.digest('hex');
}

/** Node takes one CommonJS script. */
async function bundledMain(): Promise<string> {
  const bundle = await rolldown({ input: join(ROOT, 'scripts/executable/main.ts'), platform: 'node' });
  const file = join(work, 'main.cjs');
  await bundle.write({ file, format: 'cjs' });
  await bundle.close();
  return file;
}

/** Runs the file with an empty environment and an empty folder, so that it finds neither Node nor packages. */
async function tryOut(): Promise<void> {
  const env = { XDG_CACHE_HOME: join(work, 'cache'), TMPDIR: work };
  const printed = execFileSync(output, ['--version'], { env, cwd: work, encoding: 'utf8' });
  if (printed !== `${version}\n`) throw new Error(`The executable printed ${printed}.`);
  await sendFirstDelivery({ command: output, args: [], cwd: work, env });
}
