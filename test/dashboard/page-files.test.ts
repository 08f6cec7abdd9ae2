/** The page as it is built: light, and nothing in it that its policy forbids. */
import { spawnSync } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { constants, gzipSync } from 'node:zlib';
import { beforeAll, expect, test } from 'vitest';

const ROOT = join(import.meta.dirname, '../..');
const DIST = join(ROOT, 'dashboard/dist');
const SCRIPT_BYTES_MAX = 60 * 1_024;
const STYLE_BYTES_MAX = 12 * 1_024;

function read(path: string): string {
  return readFileSync(join(DIST, path), 'utf8');
}

function packedBytes(pattern: string): number {
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

test('script and styles are small, all of them together', () => {
  expect(packedBytes('**/*.js')).toBeLessThan(SCRIPT_BYTES_MAX);
  expect(packedBytes('**/*.css')).toBeLessThan(STYLE_BYTES_MAX);
});

test('the page names files of its own only, and has no script or style in itself', () => {
  const page = read('index.html');
  const named = [...page.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, address]) => address ?? '');
  expect(named.length).toBeGreaterThan(2);
  expect(named.filter((address) => !address.startsWith('/dashboard/assets/'))).toEqual([]);
  expect(page).not.toMatch(/<style|style=|\son[a-z]+=/);
  expect([...page.matchAll(/<script[^>]*>([^<]*)/g)].map(([, text]) => text?.trim())).toEqual(['']);
});

test('the first paint waits for the script, which knows the theme', () => {
  expect(read('index.html')).toContain('<script type="module" blocking="render"');
});
