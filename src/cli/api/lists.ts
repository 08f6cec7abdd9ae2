/** Lists: so many items, newest first, over as many pages as it takes. */
import type { Command } from 'commander';
import type { Pages } from '#sdk/index.ts';
import { NegativeAnswer } from '#src/cli/failure.ts';
import { countParser, isSet } from '#src/cli/options.ts';
import { type Answer, type Column, type Json, tableOf } from '#src/cli/terminal/output.ts';
import type { ServiceCall } from './service-command.ts';

const LIMIT_DEFAULT = 20;
/** All are held in memory, to lay out a table. */
const ITEMS_MAX = 100_000;
const PAGE_ITEMS_MAX = 100;

export function addListOptions(command: Command): Command {
  return command
    .option('--limit <number>', 'how many', countParser(ITEMS_MAX), LIMIT_DEFAULT)
    .option('--all', `as many as there are, up to ${ITEMS_MAX}`);
}

/** `pages` is asked with the size of a page. */
export async function listAnswer<T extends object>(
  { options, screen }: ServiceCall,
  notify: (line: string) => void,
  pages: (query: { readonly limit: number }) => Pages<T>,
  columns: readonly Column<T>[],
): Promise<Answer> {
  const isAll = isSet(options, 'all');
  const most = isAll ? ITEMS_MAX : Number(options.limit);
  // One more than is shown says whether there are more.
  const found = await pages({ limit: Math.min(most + 1, PAGE_ITEMS_MAX) }).toArray(most + 1);
  const items = found.slice(0, most);
  if (found.length > most && isAll) {
    notify(`There are more than ${ITEMS_MAX}: ask for fewer at once.`);
    throw new NegativeAnswer();
  }
  if (found.length > most && screen.columns !== null)
    notify(`There are more: --limit ${most * 5}, or --all.`);
  return {
    json: items as unknown as Json,
    text: items.length === 0 && screen.columns !== null ? 'There are none.' : tableOf(columns, items, screen),
  };
}
