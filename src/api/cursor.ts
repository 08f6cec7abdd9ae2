/**
 * Cursors are opaque and valid only for the list they came from. A list is ordered by (created_at, id), and an
 * id starts with the instant of its creation. So the id of the last shown item is the whole position. It never
 * changes, so rescheduling and new rows do not make a page skip or repeat an item.
 */
import { hash } from 'node:crypto';
import { Refusal } from '#src/domain/errors.ts';
import type { Partition } from '#src/domain/project.ts';

const CHECKSUM_BYTES = 6;
export const CURSOR_CHARACTERS_MAX = 128;

/** Names one list of one tenant, such as `schedules` or `deliveries of sch_…`. */
export interface List {
  readonly partition: Partition;
  readonly name: string;
}

function checksumOf({ partition, name }: List, position: string): Buffer {
  return hash('sha256', `cursor/${partition}/${name}/${position}`, 'buffer').subarray(0, CHECKSUM_BYTES);
}

export function encodeCursor(list: List, position: string): string {
  return Buffer.concat([checksumOf(list, position), Buffer.from(position)]).toString('base64url');
}

/** Returns the position of a cursor of this list. Any other text is refused. */
export function decodeCursor<T>(list: List, cursor: string, parse: (position: string) => T | null): T {
  const position = cursor.length > CURSOR_CHARACTERS_MAX ? '' : positionIn(cursor);
  const isValid = encodeCursor(list, position) === cursor;
  const parsed = isValid ? parse(position) : null;
  if (parsed === null) throw new Refusal('invalid_cursor', 'cursor', wrongCursorText(list.name, cursor));
  return parsed;
}

export function wrongCursorText(name: string, cursor: string): string {
  const id = /^[a-z]{2,3}_/.test(cursor) ? ' It looks like an id.' : '';
  const own = `Use next_cursor of a page of this list, unchanged, or leave cursor out for the first page.`;
  return `This cursor does not belong to the list "${name}" of this API key.${id} ${own}`;
}

function positionIn(cursor: string): string {
  return Buffer.from(cursor, 'base64url').subarray(CHECKSUM_BYTES).toString();
}
