/** Links inside the docs lead to existing files and headings. */
import { existsSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { describe, expect, test } from 'vitest';
import { anchorsOf, linksOf, PAGES, type Page, pageOf, ROOT } from './pages.ts';

/** Addresses of other sites and of the reader's own service are not followed. */
const OUTSIDE = /^(https?:|mailto:)/;

function problemWith(link: string, from: Page): string | null {
  if (OUTSIDE.test(link)) return null;
  const [file = '', anchor] = link.split('#');
  const path = file === '' ? from.path : normalize(join(dirname(from.path), file));
  if (!existsSync(join(ROOT, path))) return `${from.path} links to ${link}, which is not there`;
  const target = PAGES.find((page) => page.path === path);
  if (anchor === undefined || (target !== undefined && anchorsOf(target).has(anchor))) return null;
  return `${from.path} links to ${link}, a heading that ${path} does not have`;
}

describe('links', () => {
  test('lead to existing files and headings', () => {
    const problems = PAGES.flatMap((page) => linksOf(page).map((link) => problemWith(link, page)));
    expect(problems.filter((problem) => problem !== null)).toEqual([]);
  });

  test('lead from the index to every page of docs/', () => {
    const index = PAGES.find(({ path }) => path === 'docs/README.md');
    const linked = index === undefined ? [] : linksOf(index).map((link) => `docs/${link.split('#')[0]}`);
    const pages = PAGES.map(({ path }) => path).filter((path) => path.startsWith('docs/'));
    expect(pages.filter((path) => path !== 'docs/README.md' && !linked.includes(path))).toEqual([]);
  });

  test('a broken link is found', () => {
    const page = pageOf(
      'docs/README.md',
      '# Title\n\n[a](no-such-page.md) [b](#no-such-heading) [c](#title)\n',
    );
    const problems = linksOf(page).map((link) => problemWith(link, page));
    expect(problems[0]).toContain('not there');
    expect(problems[1]).toContain('heading');
  });
});
