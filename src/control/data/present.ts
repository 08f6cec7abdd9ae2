/** Runs, counts and waits as the dashboard shows them. */
import type { Counts, PreviewRun, RunNoteInfo, WaitInfo } from '#src/control/http/data-contract.ts';
import { orNull } from '#src/control/http/present.ts';
import { formatInstant, type Instant } from '#src/domain/instant.ts';
import type { Run } from '#src/domain/run-notes.ts';
import type { Stats } from '#src/domain/stats.ts';
import type { Wait } from '#src/domain/wait.ts';
import { spanAt, toLocal } from '#src/domain/zone.ts';
import { noteText, offsetText, wallClockText } from '#src/texts/run-text.ts';
import { WAIT_WORDS } from '#src/texts/wait-text.ts';

/** `more` are notes that are not about the wall clock. */
export function presentRun(
  { at, local, offsetMs, notes }: Run,
  more: readonly RunNoteInfo[] = [],
): PreviewRun {
  return {
    at: formatInstant(at),
    local: wallClockText(local),
    offset: offsetText(offsetMs),
    notes: [...notes.map((note) => ({ kind: note.kind, text: noteText(note) })), ...more],
  };
}

/** Moves a run to the instant at which it really fires, and keeps its notes. */
export function moveRun(run: Run, zone: string, firesAt: Instant): Run {
  return { ...run, at: firesAt, local: toLocal(zone, firesAt), offsetMs: spanAt(zone, firesAt).offsetMs };
}

export function presentCounts({ fired, succeeded, retried, deadLettered, expired }: Stats): Counts {
  return { fired, succeeded, retried, dead_lettered: deadLettered, expired };
}

export function presentWait(wait: Wait | null): WaitInfo | null {
  if (wait === null) return null;
  const { reason, until } = wait;
  return { reason, until: orNull(until), words: WAIT_WORDS[reason] };
}
