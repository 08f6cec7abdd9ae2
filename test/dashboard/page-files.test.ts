/** Each built page is small and contains nothing that its content security policy forbids. */
import { spawnSync } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { constants, gzipSync } from 'node:zlib';
import { beforeAll, expect, test } from 'vitest';

const ROOT = join(import.meta.dirname, '../..');
const DIST = join(ROOT, 'dashboard/dist');
const SCRIPT_BYTES_MAX = 72 * 1_024;
const STYLE_BYTES_MAX = 12 * 1_024;
const REFERENCE_SCRIPT_BYTES_MAX = 8 * 1_024;
const REFERENCE_STYLE_BYTES_MAX = 6 * 1_024;

function read(path: string): string {
  return readFileSync(join(DIST, path), 'utf8');
}

function gzippedBytes(pattern: string): number {
  const files = globSync(pattern, { cwd: DIST });
  expect(files).not.toEqual([]);
  return files.reduce(
    (sum, path) => sum + gzipSync(read(path), { level: constants.Z_BEST_COMPRESSION }).length,
    0,
  );
}

beforeAll(() => {
  const { status, stderr } = spawnSync(process.execPath, ['scripts/build-dashboard.ts'], {
    cwd: ROOT,
    encoding: 'utf8',
  });
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
});

const PAGES = ['dashboard', 'inbox'];

test.each(PAGES)('all scripts together and all styles together are small: %s', (page) => {
  expect(gzippedBytes(`${page}/**/*.js`)).toBeLessThan(SCRIPT_BYTES_MAX);
  expect(gzippedBytes(`${page}/**/*.css`)).toBeLessThan(STYLE_BYTES_MAX);
});

test('every page has a budget', () => {
  expect(globSync('*', { cwd: DIST }).toSorted()).toEqual(['dashboard', 'docs', 'inbox']);
});

test('the reference has one small script and one small style', () => {
  expect(globSync('docs/*', { cwd: DIST }).toSorted()).toEqual(['docs/page.css', 'docs/page.js']);
  expect(gzippedBytes('docs/*.js')).toBeLessThan(REFERENCE_SCRIPT_BYTES_MAX);
  expect(gzippedBytes('docs/*.css')).toBeLessThan(REFERENCE_STYLE_BYTES_MAX);
});

test.each(PAGES)('the page refers only to its own files, and contains no script and no style: %s', (name) => {
  const page = read(`${name}/index.html`);
  const named = [...page.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, address]) => address ?? '');
  expect(named.length).toBeGreaterThan(2);
  expect(named.filter((address) => !address.startsWith(`/${name}/assets/`))).toEqual([]);
  expect(page).not.toMatch(/<style|style=|\son[a-z]+=/);
  expect([...page.matchAll(/<script[^>]*>([^<]*)/g)].map(([, text]) => text?.trim())).toEqual(['']);
});

test.each(PAGES)('the first paint waits for the script, which sets the theme: %s', (name) => {
  expect(read(`${name}/index.html`)).toContain('<script type="module" blocking="render"');
});
