/** Prints a list of up to a given number of items. It reads as many pages as that takes. */
import type { Command } from 'commander';
import type { Pages } from '#sdk/index.ts';
import { NegativeAnswer } from '#src/cli/failure.ts';
import { countParser, isSet } from '#src/cli/options.ts';
import { type Answer, type Column, type Json, tableOf } from '#src/cli/terminal/output.ts';
import type { ServiceCall } from './service-command.ts';

const LIMIT_DEFAULT = 20;
/** All items are held in memory, because the width of a column depends on every row. */
const ITEMS_MAX = 100_000;
const PAGE_ITEMS_MAX = 100;

export function addListOptions(command: Command): Command {
  return command
    .option('--limit <number>', 'maximum number of items', countParser(ITEMS_MAX), LIMIT_DEFAULT)
    .option('--all', `list every item, up to ${ITEMS_MAX}`);
}

/** `pages` creates the list for a given page size. */
export async function listAnswer<T extends object>(
  { options, screen }: ServiceCall,
  notify: (line: string) => void,
  pages: (query: { readonly limit: number }) => Pages<T>,
  columns: readonly Column<T>[],
): Promise<Answer> {
  const isAll = isSet(options, 'all');
  const most = isAll ? ITEMS_MAX : Number(options.limit);
  // One item more than is shown reveals whether the list goes on.
  const found = await pages({ limit: Math.min(most + 1, PAGE_ITEMS_MAX) }).toArray(most + 1);
  const items = found.slice(0, most);
  if (found.length > most && isAll) {
    notify(`The list has more than ${ITEMS_MAX} items. Narrow it down with filters or --limit.`);
    throw new NegativeAnswer();
  }
  const isForPerson = screen.columns !== null;
  return {
    json: items as unknown as Json,
    text: items.length === 0 && isForPerson ? 'The list is empty.' : tableOf(columns, items, screen),
    ...(found.length > most &&
      isForPerson && { note: `The list goes on. Use --limit ${most * 5} or --all to see more.` }),
  };
}
