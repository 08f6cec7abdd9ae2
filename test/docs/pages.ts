/** Parses the pages for users into code blocks, headings and links. */
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

export const ROOT = join(import.meta.dirname, '../..');

export interface Block {
  /** The start of the block, such as `docs/limits.md:12`. */
  readonly place: string;
  readonly line: number;
  readonly language: string;
  /** The text after the language, such as `not-run`. */
  readonly mark: string;
  readonly text: string;
}

export interface Page {
  /** The path from the root of the repository. */
  readonly path: string;
  readonly text: string;
  readonly blocks: readonly Block[];
  /** The text without the code blocks. */
  readonly prose: string;
}

const FENCE = /^(\s*)(`{3,})(.*)$/;
/** Decision records are for contributors, and have no steps to follow. */
const PATHS = [
  'README.md',
  'CONTRIBUTING.md',
  'SECURITY.md',
  'sdk/README.md',
  ...globSync('docs/**/*.md', { cwd: ROOT }).toSorted(),
].filter((path) => !path.startsWith('docs/adr/'));

export const PAGES: readonly Page[] = PATHS.map((path) =>
  pageOf(path, readFileSync(join(ROOT, path), 'utf8')),
);

export function pageAt(path: string): Page {
  const page = PAGES.find((one) => one.path === path);
  if (page === undefined) throw new Error(`There is no page ${path}.`);
  return page;
}

export function pageOf(path: string, text: string): Page {
  const blocks: Block[] = [];
  const prose: string[] = [];
  let open: { line: number; indent: string; fence: string; info: string; lines: string[] } | null = null;
  for (const [index, line] of text.split('\n').entries()) {
    const [, indent = '', fence = '', info = ''] = FENCE.exec(line) ?? [];
    if (open === null && fence === '') prose.push(line);
    else if (open === null) open = { line: index + 1, indent, fence, info: info.trim(), lines: [] };
    else if (fence === open.fence && info.trim() === '') {
      const [language = '', ...marks] = open.info.split(/\s+/);
      const place = `${path}:${open.line}`;
      blocks.push({ place, line: open.line, language, mark: marks.join(' '), text: open.lines.join('\n') });
      open = null;
    } else open.lines.push(line.startsWith(open.indent) ? line.slice(open.indent.length) : line);
  }
  if (open !== null) throw new Error(`${path}:${open.line} begins a block that never ends.`);
  return { path, text, blocks, prose: prose.join('\n') };
}

/** Anchors as GitHub derives them from headings. A repeated heading gets a number. */
export function anchorsOf({ prose }: Page): ReadonlySet<string> {
  const anchors = new Set<string>();
  for (const [, heading = ''] of prose.matchAll(/^#{1,6} (.+)$/gm)) {
    const plain = heading.replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1');
    const slug = plain
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\p{M}_\- ]/gu, '')
      .replaceAll(' ', '-');
    let anchor = slug;
    for (let n = 1; anchors.has(anchor); n++) anchor = `${slug}-${n}`;
    anchors.add(anchor);
  }
  return anchors;
}

/** The targets of links and images. */
export function linksOf({ prose }: Page): readonly string[] {
  const spoken = prose.replaceAll(/`[^`\n]*`/g, '');
  return [...spoken.matchAll(/\]\(([^)\s]+)\)|(?:src|srcset|href)="([^"]+)"/g)].map(
    ([, inText, inTag]) => inText ?? inTag ?? '',
  );
}
