/**
 * The audit log of an act: that it was begun is written before, so that nothing is done that was not written down;
 * what came of it is written after. An entry that stays `begun` is of an act whose end nobody knows.
 */

import { URL_CHARACTERS_MAX } from '#src/domain/destination.ts';
import { Refusal } from '#src/domain/errors.ts';
import type { IdMint } from '#src/domain/id.ts';
import type { AuditEntry, PeopleStore } from '#src/ports/people-store.ts';
import type { Clock } from '#src/ports/system.ts';
import { ControlRefusal } from './refusal.ts';

const DETAIL_FIELDS_MAX = 16;
const TEXT_CHARACTERS_MAX = 200;
/** These are destinations, which are kept whole. */
const DESTINATION_FIELDS: ReadonlySet<string> = new Set(['from', 'to']);

export interface AuditDependencies {
  readonly store: { readonly people: PeopleStore };
  readonly clock: Clock;
  readonly ids: IdMint;
}

/** Who does what, to what, where. */
export type AuditedAction = Pick<
  AuditEntry,
  'userId' | 'actor' | 'address' | 'peer' | 'action' | 'subject' | 'projectId' | 'mode' | 'detail'
>;

/** Carries it out. `subjectOf`: what it was done to, where that is known only then. */
export async function runAudited<T>(
  { store: { people }, clock, ids }: AuditDependencies,
  given: AuditedAction,
  act: () => Promise<T>,
  subjectOf: (made: T) => string | undefined = () => undefined,
): Promise<T> {
  const entry = newEntry({ clock, ids }, given, 'begun', null);
  const { subject } = entry;
  await people.addAudit(entry);
  try {
    const made = await act();
    // It is done, whether that can be written down or not.
    await people.endAudit(entry.id, 'done', null, truncate(subjectOf(made) ?? subject)).catch(() => {});
    return made;
  } catch (error) {
    const code = refusalCode(error);
    const outcome = code === null ? 'failed' : 'refused';
    await people.endAudit(entry.id, outcome, code, subject).catch(() => {});
    throw error;
  }
}

/** Writes down what is over already. */
export async function recordAudit(
  { store: { people }, clock, ids }: AuditDependencies,
  given: AuditedAction,
  outcome: 'done' | 'refused',
  code: string | null,
): Promise<void> {
  await people.addAudit(newEntry({ clock, ids }, given, outcome, code));
}

function newEntry(
  { clock, ids }: Pick<AuditDependencies, 'clock' | 'ids'>,
  given: AuditedAction,
  outcome: AuditEntry['outcome'],
  code: string | null,
): AuditEntry {
  const at = clock.now();
  return {
    ...given,
    id: ids.mint('aud', at),
    at,
    actor: truncate(given.actor),
    subject: truncate(given.subject),
    detail: truncateDetail(given.detail),
    outcome,
    code,
  };
}

function refusalCode(error: unknown): string | null {
  return error instanceof ControlRefusal || error instanceof Refusal ? error.code : null;
}

function truncateDetail(detail: AuditEntry['detail']): AuditEntry['detail'] {
  const facts = Object.entries(detail).slice(0, DETAIL_FIELDS_MAX);
  return Object.fromEntries(
    facts.map(([name, fact]) => {
      const max = DESTINATION_FIELDS.has(name) ? URL_CHARACTERS_MAX : TEXT_CHARACTERS_MAX;
      return [truncate(name), typeof fact === 'string' ? truncate(fact, max) : fact];
    }),
  );
}

/** Whole characters only. */
function truncate(text: string, max = TEXT_CHARACTERS_MAX): string {
  if (text.length <= max) return text;
  return `${text.slice(0, max - 1).replace(/[\uD800-\uDBFF]$/, '')}…`;
}
