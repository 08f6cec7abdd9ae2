/**
 * The audit log of an act: that it was begun is written before, so that nothing is done that was not written down;
 * what came of it is written after. An entry that stays `begun` is of an act whose end nobody knows.
 */

import { Refusal } from '#src/domain/errors.ts';
import type { IdMint } from '#src/domain/id.ts';
import type { Clock } from '#src/ports/clock.ts';
import type { AuditEntry, PeopleStore } from '#src/ports/people-store.ts';
import { ControlRefusal } from './refusal.ts';

const FACTS_MAX = 16;
const TEXT_CHARACTERS_MAX = 200;

export interface AuditWorld {
  readonly store: { readonly people: PeopleStore };
  readonly clock: Clock;
  readonly ids: IdMint;
}

/** Who does what, to what, where. */
export type AuditedAct = Pick<
  AuditEntry,
  'userId' | 'actor' | 'address' | 'action' | 'subject' | 'projectId' | 'mode' | 'detail'
>;

/** Carries it out. `subjectOf`: what it was done to, where that is known only then. */
export async function audited<T>(
  { store: { people }, clock, ids }: AuditWorld,
  given: AuditedAct,
  act: () => Promise<T>,
  subjectOf: (made: T) => string | undefined = () => undefined,
): Promise<T> {
  const at = clock.now();
  const subject = cut(given.subject);
  const entry: AuditEntry = {
    ...given,
    id: ids.mint('aud', at),
    at,
    actor: cut(given.actor),
    subject,
    detail: bounded(given.detail),
    outcome: 'begun',
    code: null,
  };
  await people.addAudit(entry);
  try {
    const made = await act();
    // It is done, whether that can be written down or not.
    await people.endAudit(entry.id, 'done', null, cut(subjectOf(made) ?? subject)).catch(() => {});
    return made;
  } catch (error) {
    const code = codeOf(error);
    const outcome = code === null ? 'failed' : 'refused';
    await people.endAudit(entry.id, outcome, code, subject).catch(() => {});
    throw error;
  }
}

function codeOf(error: unknown): string | null {
  return error instanceof ControlRefusal || error instanceof Refusal ? error.code : null;
}

function bounded(detail: AuditEntry['detail']): AuditEntry['detail'] {
  const facts = Object.entries(detail).slice(0, FACTS_MAX);
  return Object.fromEntries(
    facts.map(([name, fact]) => [cut(name), typeof fact === 'string' ? cut(fact) : fact]),
  );
}

/** Whole characters only. */
function cut(text: string): string {
  if (text.length <= TEXT_CHARACTERS_MAX) return text;
  return `${text.slice(0, TEXT_CHARACTERS_MAX - 1).replace(/[\uD800-\uDBFF]$/, '')}…`;
}
