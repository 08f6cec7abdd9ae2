/**
 * Records refusals by role in the audit log: one entry for each user, route and hour. The store keeps the time of the
 * last entry, so that all nodes together write one. This process caches it, so that a user who is refused again and
 * again costs the store nothing.
 */
import { hash } from 'node:crypto';
import type { Instant } from '#src/domain/instant.ts';
import { largeCache } from '#src/ports/large-cache.ts';
import type { Log } from '#src/ports/telemetry.ts';
import { type AuditDependencies, type AuditedAction, recordAudit } from './audit.ts';

const HOUR_MS = 3_600_000;
const CACHED_MAX = 10_000;

export type RefusedAction = Omit<AuditedAction, 'action' | 'subject' | 'detail'> & {
  /** Method and pattern, such as `POST p/:project/:mode/keys`. */
  readonly route: string;
};

export class RoleRefusals {
  readonly #dependencies: AuditDependencies & { readonly log: Log };
  readonly #written = largeCache<string, Instant>(CACHED_MAX);

  constructor(dependencies: AuditDependencies & { readonly log: Log }) {
    this.#dependencies = dependencies;
  }

  /** A failed write does not change the refusal. */
  async record(action: RefusedAction): Promise<void> {
    const { clock, log } = this.#dependencies;
    const subject = `refused:${hash('sha256', JSON.stringify([action.userId, action.route]), 'hex')}`;
    const now = clock.now();
    if (isRecent(this.#written.get(subject), now)) return;
    this.#written.set(subject, now);
    try {
      const last = await this.#claimEntry(subject, now);
      if (last !== null) this.#written.set(subject, last);
      else await this.#writeOrRelease(subject, action);
    } catch (error) {
      this.#written.delete(subject);
      log.warn({ error: String(error) }, 'a refusal could not be written into the audit log');
    }
  }

  /** Returns when any node last wrote the entry. Null means that this node has to write it. */
  async #claimEntry(subject: string, now: Instant): Promise<Instant | null> {
    const { people } = this.#dependencies.store;
    const [was = null] = await people.findFailureCounts([subject]);
    if (was !== null && isRecent(was.lastAt, now)) return was.lastAt;
    const change = { subject, failures: 1, lastAt: now, was };
    return (await people.replaceFailureCounts([change])) === 'done' ? null : now;
  }

  async #writeOrRelease(subject: string, action: RefusedAction): Promise<void> {
    try {
      await this.#write(action);
    } catch (error) {
      await this.#dependencies.store.people.clearFailureCounts([subject]);
      throw error;
    }
  }

  #write({ route, ...given }: RefusedAction): Promise<void> {
    const entry = { ...given, action: 'access.refused', subject: route, detail: {} };
    return recordAudit(this.#dependencies, entry, 'refused', 'not_allowed');
  }
}

function isRecent(last: Instant | undefined, now: Instant): boolean {
  return last !== undefined && Math.abs(now - last) < HOUR_MS;
}
