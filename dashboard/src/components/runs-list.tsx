/** Coming runs in the zone of the schedule, with notes about clock changes. */
import type { Preview, PreviewRun } from '../../../src/control/http/data-contract.ts';
import { displayZone, formatInstant } from '../time.ts';
import { Icon } from './icon.tsx';
import { Relative } from './instant.tsx';

export function RunsList({
  runs,
  timezone,
}: {
  readonly runs: readonly PreviewRun[];
  readonly timezone: string;
}) {
  const shown = displayZone.value;
  const common = commonNotes(runs);
  return (
    <>
      {common.map((text) => (
        <p key={text} class="mb-1 text-sm text-dim">
          Each run {text}.
        </p>
      ))}
      <ol class="divide-y divide-line">
        {runs.map((run) => {
          const own = formatInstant(run.at, timezone, 'second');
          const viewers = formatInstant(run.at, shown, 'second');
          return (
            <li key={run.at} class="py-1.5">
              <div class="flex flex-wrap items-baseline justify-between gap-x-3">
                <time dateTime={run.at} class="tabular-nums">
                  {weekday(run.at, timezone)} {own}
                  <span class="text-xs text-dim"> {run.offset}</span>
                </time>
                <span class="text-sm text-dim">
                  <Relative at={run.at} />
                </span>
              </div>
              {own === viewers ? null : (
                <div class="text-xs text-dim tabular-nums">
                  {viewers} {shown}
                </div>
              )}
              {run.notes
                .filter(({ text }) => !common.includes(text))
                .map((note) => (
                  <p key={note.text} class="mt-0.5 flex gap-1.5 text-sm text-warn">
                    <Icon name="warning" size={14} className="mt-0.75" />
                    {note.text}
                  </p>
                ))}
            </li>
          );
        })}
      </ol>
    </>
  );
}

/** Later runs that a clock change moves, so that it is no surprise. */
export function ClockChanges({ preview }: { readonly preview: Preview | null }) {
  if (preview === null || preview.clock_changes.length === 0) return null;
  return (
    <>
      <p class="mt-3 text-sm text-dim">When the clock changes:</p>
      <RunsList runs={preview.clock_changes} timezone={preview.timezone} />
    </>
  );
}

/** The notes that all runs have in common are shown once. */
function commonNotes(runs: readonly PreviewRun[]): readonly string[] {
  const [first, ...rest] = runs;
  if (first === undefined || rest.length === 0) return [];
  return first.notes
    .map(({ text }) => text)
    .filter((text) => rest.every(({ notes }) => notes.some((note) => note.text === text)));
}

function weekday(at: string, timeZone: string): string {
  return new Intl.DateTimeFormat('en-GB', { weekday: 'short', timeZone }).format(Date.parse(at));
}
