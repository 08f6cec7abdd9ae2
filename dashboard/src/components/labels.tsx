/** Labels as links to the schedules that have the same label. */
import { truncateMiddle } from '../format.ts';
import { hrefInProject } from '../session.ts';

const SHOWN_MAX = 4;
const LABEL_CHARACTERS_MAX = 32;

export function Labels({
  labels,
  shownMax = SHOWN_MAX,
}: {
  readonly labels: Readonly<Record<string, string>>;
  readonly shownMax?: number;
}) {
  const entries = Object.entries(labels);
  if (entries.length === 0) return <span class="text-dim">–</span>;
  return (
    <span class="inline-flex max-w-full flex-wrap gap-1">
      {entries.slice(0, shownMax).map(([name, value]) => (
        <Label key={name} name={name} value={value} />
      ))}
      {entries.length > shownMax ? (
        <span class="text-xs text-dim">and {entries.length - shownMax} more</span>
      ) : null}
    </span>
  );
}

/** The search for a label. Null: the search has no syntax for it. */
function searchFor(name: string, value: string): string | null {
  if (/[\s="?]/.test(name) || value.includes('"') || value === '') return null;
  return /\s/.test(value) ? `${name}="${value}"` : `${name}=${value}`;
}

function Label({ name, value }: { readonly name: string; readonly value: string }) {
  const text = `${name}=${value}`;
  const search = searchFor(name, value);
  const shown = (
    <span title={text} class="block truncate rounded bg-sunken px-1.5 py-px text-xs">
      {truncateMiddle(text, LABEL_CHARACTERS_MAX)}
    </span>
  );
  if (search === null) return shown;
  return (
    <a
      href={`${hrefInProject('schedules')}?${new URLSearchParams({ q: search })}`}
      class="max-w-full rounded hover:text-accent"
    >
      <span class="sr-only">Schedules with the label </span>
      {shown}
    </a>
  );
}
