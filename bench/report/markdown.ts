/** Markdown out of measurements: whatever a text contains, it stays inside its cell. */

const SPECIAL = /[\\`*_[\]|]/g;
const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' };

export function plain(text: string): string {
  return text
    .replaceAll(/\s+/g, ' ')
    .replaceAll(/[&<>]/g, (character) => ENTITIES[character] ?? '')
    .replaceAll(SPECIAL, '\\$&');
}

/** Cells are Markdown already. The first column is to the left, the others are numbers. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
  const rule = head.map((_, n) => (n === 0 ? '---' : '---:'));
  return [line(head), `|${rule.join('|')}|`, ...rows.map(line)].join('\n');
}

/** The same, of words alone. */
export function wordTable(head: readonly string[], rows: readonly (readonly string[])[]): string {
  return table(head, rows).replaceAll('---:', '---');
}

export function bulleted(items: readonly string[]): string {
  return items.map((item) => `- ${item}`).join('\n');
}
