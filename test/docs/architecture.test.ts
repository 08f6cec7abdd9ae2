/** The map stays true: every path that it names exists, and the table of folders names every folder. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ROOT } from './pages.ts';

const PATH = /`((?:src|test|dashboard|sdk|bench|docs|scripts)\/[\w./-]+)`/g;
const FOLDER_ROOTS = ['src', 'src/engine', 'src/store', 'src/control', 'src/cli', 'test'];

function pathsIn(page: string): readonly string[] {
  const text = readFileSync(join(ROOT, page), 'utf8');
  return [...text.matchAll(PATH)].map(([, path = '']) => path);
}

test.each(['docs/architecture.md', 'CONTRIBUTING.md'])('every path in %s exists', (page) => {
  const paths = pathsIn(page);
  expect(paths.length).toBeGreaterThan(10);
  expect(paths.filter((path) => !existsSync(join(ROOT, path)))).toEqual([]);
});

test('the table of CONTRIBUTING.md names every folder', () => {
  const text = readFileSync(join(ROOT, 'CONTRIBUTING.md'), 'utf8');
  const folders = FOLDER_ROOTS.flatMap((parent) =>
    readdirSync(join(ROOT, parent), { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .map(({ name }) => `${parent}/${name}`),
  );
  expect(folders.filter((folder) => !text.includes(`\`${folder}\``))).toEqual([]);
});
