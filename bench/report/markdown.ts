/** Writes Markdown. Texts are escaped, so that they stay inside their cells. */

const SPECIAL = /[\\`*_[\]|]/g;
const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' };

export function plain(text: string): string {
  return text
    .replaceAll(/\s+/g, ' ')
    .replaceAll(/[&<>]/g, (character) => ENTITIES[character] ?? '')
    .replaceAll(SPECIAL, '\\$&');
}

/** Cells are already Markdown. The first column is aligned to the left, and the columns of numbers to the right. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
  const rule = head.map((_, n) => (n === 0 ? '---' : '---:'));
  return [line(head), `|${rule.join('|')}|`, ...rows.map(line)].join('\n');
}

/** Writes a table whose columns are all aligned to the left. */
export function wordTable(head: readonly string[], rows: readonly (readonly string[])[]): string {
  return table(head, rows).replaceAll('---:', '---');
}

export function bulleted(items: readonly string[]): string {
  return items.map((item) => `- ${item}`).join('\n');
}
