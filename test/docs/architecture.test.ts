/** The map stays true: every path that it names exists, and its tables name every folder and every file of the engine. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
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

const ENGINE_ROW = /^\| `((?:[\w-]+\/)?[\w-]+\.ts)` \| [^|]+ \| [^|]+ \|$/gm;

/** Compares the rows of the engine's tables with the files in `src/engine`. */
function engineRows(page: string): {
  readonly missing: readonly string[];
  readonly wrong: readonly string[];
} {
  const files = readdirSync(join(ROOT, 'src/engine'), { recursive: true, encoding: 'utf8' }).filter(
    (path) => path.endsWith('.ts') && !path.endsWith('.test.ts'),
  );
  const rows = [...page.matchAll(ENGINE_ROW)].map(([, path = '']) => path);
  return {
    missing: files.filter((path) => !rows.includes(path)),
    wrong: rows.filter((path, index) => !files.includes(path) || rows.indexOf(path) !== index),
  };
}

describe('the tables of the engine', () => {
  const page = readFileSync(join(ROOT, 'docs/architecture.md'), 'utf8');

  test('say of every file what it does and when, once', () => {
    expect(engineRows(page)).toEqual({ missing: [], wrong: [] });
  });

  test('are wrong when a row is left out, repeated, or names no file', () => {
    const [row = ''] = page.match(/^\| `claim\/claimer\.ts`.*\n/m) ?? [];
    expect(engineRows(page.replace(row, '')).missing).toEqual(['claim/claimer.ts']);
    expect(engineRows(page.replace(row, row + row)).wrong).toEqual(['claim/claimer.ts']);
    expect(engineRows(page.replace('`claim/claimer.ts`', '`claim/none.ts`')).wrong).toEqual([
      'claim/none.ts',
    ]);
  });
});
