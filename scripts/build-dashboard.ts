/**
 * Builds the dashboard's page, but only when something it is made of has changed since: it runs after `npm ci` and
 * before `npm start`, and has nothing to say when there is nothing to do. Where the tools are not installed
 * (`npm ci --omit=dev`) a page that was built before is left as it is.
 */
import { createHash } from 'node:crypto';
import { existsSync, globSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '..');
const DASHBOARD = join(ROOT, 'dashboard');
const DIST = join(DASHBOARD, 'dist');
/** What the page in `dist` was made of. */
const MARK = join(DIST, '.built');

const digest = sourcesDigest();
if (!isFresh(digest)) {
  if (hasTools()) await build(digest);
  else if (!existsSync(MARK)) {
    console.error(
      'The dashboard was not built: that takes the development packages (npm ci, without --omit=dev).',
    );
  }
}

function isFresh(wanted: string): boolean {
  return existsSync(MARK) && readFileSync(MARK, 'utf8') === wanted;
}

function hasTools(): boolean {
  try {
    createRequire(import.meta.url).resolve('vite');
    return true;
  } catch {
    return false;
  }
}

/** Of every file it is made of, and of the versions of what makes it. */
function sourcesDigest(): string {
  const hash = createHash('sha256');
  const sources = globSync(['src/**/*.{ts,tsx,css,svg}', 'index.html', 'vite.config.ts'], { cwd: DASHBOARD });
  const paths = sources.filter((path) => !path.endsWith('.test.ts')).toSorted();
  for (const path of paths) hash.update(`${path}\0`).update(readFileSync(join(DASHBOARD, path)));
  return hash.update(readFileSync(join(ROOT, 'package-lock.json'))).digest('hex');
}

async function build(builtFrom: string): Promise<void> {
  // Whoever calls it, tests too: what is built is what is served.
  process.env.NODE_ENV = 'production';
  const { build: viteBuild } = await import('vite');
  await viteBuild({ configFile: join(DASHBOARD, 'vite.config.ts'), logLevel: 'error' });
  writeFileSync(MARK, builtFrom);
}
