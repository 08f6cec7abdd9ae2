/**
 * The audit log. An entry is written before the action, so that no action goes unrecorded. Its outcome is written
 * afterwards. An entry that stays `begun` belongs to an action whose outcome is unknown.
 */

import { URL_CHARACTERS_MAX } from '#src/domain/destination.ts';
import { Refusal } from '#src/domain/errors.ts';
import type { IdMint } from '#src/domain/id.ts';
import type { AuditEntry, PeopleStore } from '#src/ports/people-store.ts';
import type { Clock } from '#src/ports/system.ts';
import { ControlRefusal } from './refusal.ts';

const DETAIL_FIELDS_MAX = 16;
const TEXT_CHARACTERS_MAX = 200;
/** These details are destinations, which may be as long as a URL. */
const DESTINATION_FIELDS: ReadonlySet<string> = new Set(['from', 'to']);

export interface AuditDependencies {
  readonly store: { readonly people: PeopleStore };
  readonly clock: Clock;
  readonly ids: IdMint;
}

/** An action with its user, address, object and detail. By default it concerns no project. */
export type AuditedAction = Pick<AuditEntry, 'userId' | 'actor' | 'address' | 'peer' | 'action' | 'subject'> &
  Partial<Pick<AuditEntry, 'projectId' | 'mode' | 'detail'>>;

/** Runs the action between two writes to the audit log. `subjectOf` names an object that the action itself creates. */
export async function runAudited<T>(
  { store: { people }, clock, ids }: AuditDependencies,
  action: AuditedAction,
  act: () => Promise<T>,
  subjectOf: (result: T) => string | undefined = () => undefined,
): Promise<T> {
  const entry = newEntry({ clock, ids }, action, 'begun', null);
  const { subject } = entry;
  await people.addAudit(entry);
  try {
    const result = await act();
    // The action has taken effect, even if its outcome cannot be recorded.
    await people.endAudit(entry.id, 'done', null, truncate(subjectOf(result) ?? subject)).catch(() => {});
    return result;
  } catch (error) {
    const code = refusalCode(error);
    const outcome = code === null ? 'failed' : 'refused';
    await people.endAudit(entry.id, outcome, code, subject).catch(() => {});
    throw error;
  }
}

/** Records an action that has already ended. */
export async function recordAudit(
  { store: { people }, clock, ids }: AuditDependencies,
  action: AuditedAction,
  outcome: 'done' | 'refused',
  code: string | null,
): Promise<void> {
  await people.addAudit(newEntry({ clock, ids }, action, outcome, code));
}

function newEntry(
  { clock, ids }: Pick<AuditDependencies, 'clock' | 'ids'>,
  action: AuditedAction,
  outcome: AuditEntry['outcome'],
  code: string | null,
): AuditEntry {
  const at = clock.now();
  return {
    projectId: null,
    mode: null,
    ...action,
    id: ids.mint('aud', at),
    at,
    actor: truncate(action.actor),
    subject: truncate(action.subject),
    detail: truncateDetail(action.detail ?? {}),
    outcome,
    code,
  };
}

function refusalCode(error: unknown): string | null {
  return error instanceof ControlRefusal || error instanceof Refusal ? error.code : null;
}

function truncateDetail(detail: AuditEntry['detail']): AuditEntry['detail'] {
  const fields = Object.entries(detail).slice(0, DETAIL_FIELDS_MAX);
  return Object.fromEntries(
    fields.map(([name, value]) => {
      const max = DESTINATION_FIELDS.has(name) ? URL_CHARACTERS_MAX : TEXT_CHARACTERS_MAX;
      return [truncate(name), typeof value === 'string' ? truncate(value, max) : value];
    }),
  );
}

/** Truncates a text, and never splits a surrogate pair. */
function truncate(text: string, max = TEXT_CHARACTERS_MAX): string {
  if (text.length <= max) return text;
  return `${text.slice(0, max - 1).replace(/[\uD800-\uDBFF]$/, '')}…`;
}
