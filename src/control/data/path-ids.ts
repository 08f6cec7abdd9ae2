import { Refusal } from '#src/domain/errors.ts';
import { type IdKind, parseId } from '#src/domain/id.ts';

/** The id in a path; what has not the form of one is a thing that does not exist. */
export function idOf<K extends IdKind>(
  kind: K,
  { id = '' }: Readonly<Record<string, string>>,
): NonNullable<ReturnType<typeof parseId<K>>> {
  const parsed = parseId(kind, id);
  if (parsed === null) throw new Refusal('not_found');
  return parsed;
}
