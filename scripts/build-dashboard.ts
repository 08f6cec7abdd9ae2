/**
 * Builds the dashboard, the inbox, and the script of the reference, if their sources changed since the last build. It runs after
 * `npm ci`, before `npm start` and before `npm pack`, and prints nothing if there is nothing to do.
 */
import { createHash } from 'node:crypto';
import { existsSync, globSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '..');
const DASHBOARD = join(ROOT, 'dashboard');
const DIST = join(DASHBOARD, 'dist');
/** Holds the digest of the sources of the build in `dist`. */
const DIGEST_FILE = join(DIST, '.built');
/** Modules of the service that the pages use at run time. */
const SHARED = ['src/domain/nearest-name.ts'];

const digest = sourcesDigest();
if (!isFresh(digest)) {
  if (hasTools()) await build(digest);
  else {
    console.error(
      'The dashboard was not built, because the development packages are missing. Run npm ci without --omit=dev.',
    );
    process.exitCode = 1;
  }
}

function isFresh(wanted: string): boolean {
  return existsSync(DIGEST_FILE) && readFileSync(DIGEST_FILE, 'utf8') === wanted;
}

function hasTools(): boolean {
  try {
    createRequire(import.meta.url).resolve('vite');
    return true;
  } catch {
    return false;
  }
}

/** The digest of all source files, and of the versions of the build tools. */
function sourcesDigest(): string {
  const hash = createHash('sha256');
  const sources = globSync(['src/**/*.{ts,tsx,css,svg,html}', 'index.html', 'vite*.config.ts'], {
    cwd: DASHBOARD,
  });
  const paths = sources.filter((path) => !path.endsWith('.test.ts')).toSorted();
  for (const path of paths) hash.update(`${path}\0`).update(readFileSync(join(DASHBOARD, path)));
  for (const path of SHARED) hash.update(readFileSync(join(ROOT, path)));
  return hash.update(readFileSync(join(ROOT, 'package-lock.json'))).digest('hex');
}

async function build(builtFrom: string): Promise<void> {
  // Tests also call this script, and the production build must be the same for every caller.
  process.env.NODE_ENV = 'production';
  const { build: viteBuild } = await import('vite');
  rmSync(DIST, { recursive: true, force: true });
  for (const config of ['vite.config.ts', 'vite.docs.config.ts', 'vite.inbox.config.ts']) {
    await viteBuild({ configFile: join(DASHBOARD, config), logLevel: 'error' });
  }
  writeFileSync(DIGEST_FILE, builtFrom);
}
