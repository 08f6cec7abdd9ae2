/** Pages by cursor. The cursor is in the address, so "Back" is the browser's. */
import { query, setQuery } from '../router.ts';
import { Button } from './button.tsx';

export function Pager({
  nextCursor,
  name = 'cursor',
}: {
  readonly nextCursor: string | null;
  readonly name?: string;
}) {
  const isFirst = !query.value.has(name);
  if (isFirst && nextCursor === null) return null;
  return (
    <nav aria-label="Pages" class="flex justify-between gap-2 border-t border-line p-2">
      <Button kind="quiet" disabled={isFirst} onClick={() => setQuery({ [name]: null }, {})}>
        First page
      </Button>
      <div class="flex gap-2">
        <Button kind="quiet" icon="left" disabled={isFirst} onClick={() => history.back()}>
          Back
        </Button>
        <Button
          kind="quiet"
          disabled={nextCursor === null}
          onClick={() => setQuery({ [name]: nextCursor }, {})}
        >
          Next page
        </Button>
      </div>
    </nav>
  );
}
