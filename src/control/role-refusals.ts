/**
 * The audit log gets refusals by role: one entry for each person, route and hour. The store remembers when the last
 * was written, so that nodes together write one; this process remembers too, so that a person who is refused again
 * and again costs the store nothing.
 */
import { hash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { Instant } from '#src/domain/instant.ts';
import type { Log } from '#src/ports/telemetry.ts';
import { type AuditDependencies, type AuditedAction, recordAudit } from './audit.ts';

const HOUR_MS = 3_600_000;
const REMEMBERED_MAX = 10_000;

export type RefusedAction = Omit<AuditedAction, 'action' | 'subject' | 'detail'> & {
  /** Method and pattern, such as `POST p/:project/:mode/keys`. */
  readonly route: string;
};

export class RoleRefusals {
  readonly #dependencies: AuditDependencies & { readonly log: Log };
  readonly #written = new LRUCache<string, Instant>({ max: REMEMBERED_MAX });

  constructor(dependencies: AuditDependencies & { readonly log: Log }) {
    this.#dependencies = dependencies;
  }

  /** The refusal stands whether it can be written down or not. */
  async record(act: RefusedAction): Promise<void> {
    const { clock, log } = this.#dependencies;
    const subject = `refused:${hash('sha256', JSON.stringify([act.userId, act.route]), 'hex')}`;
    const now = clock.now();
    if (isRecent(this.#written.get(subject), now)) return;
    this.#written.set(subject, now);
    try {
      const last = await this.#lastOf(subject, now);
      if (last !== null) this.#written.set(subject, last);
      else await this.#writeFirst(subject, act);
    } catch (error) {
      this.#written.delete(subject);
      log.warn({ error: String(error) }, 'a refusal could not be written into the audit log');
    }
  }

  /** Returns when the entry was last written, by any node; null once it is this node's turn. */
  async #lastOf(subject: string, now: Instant): Promise<Instant | null> {
    const { people } = this.#dependencies.store;
    const [was = null] = await people.findLoginFailures([subject]);
    if (was !== null && isRecent(was.lastAt, now)) return was.lastAt;
    const change = { subject, failures: 1, lastAt: now, was };
    return (await people.replaceLoginFailures([change])) === 'done' ? null : now;
  }

  async #writeFirst(subject: string, act: RefusedAction): Promise<void> {
    try {
      await this.#write(act);
    } catch (error) {
      await this.#dependencies.store.people.clearLoginFailures([subject]);
      throw error;
    }
  }

  #write({ route, ...act }: RefusedAction): Promise<void> {
    const entry = { ...act, action: 'access.refused', subject: route, detail: {} };
    return recordAudit(this.#dependencies, entry, 'refused', 'not_allowed');
  }
}

function isRecent(last: Instant | undefined, now: Instant): boolean {
  return last !== undefined && Math.abs(now - last) < HOUR_MS;
}
