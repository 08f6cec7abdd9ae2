/**
 * How many replays each endpoint takes now: a bucket on the terms of its retry budget, shared by all jobs of this
 * process. Terms are those of the profile as it is now, or as it was a moment ago.
 *
 * Buckets live in memory only. After a restart they begin full: an endpoint may then see its burst once more.
 */

import type { EndpointRef } from '#src/domain/due-delivery.ts';
import { DEFAULT_RETRY_BUDGET } from '#src/domain/endpoint-profile.ts';
import { parseId } from '#src/domain/id.ts';
import type { Instant } from '#src/domain/instant.ts';
import { availableTokens, type Bucket, type BucketTerms, takeTokens } from '#src/domain/token-bucket.ts';
import { endpointRefKey } from '#src/ports/endpoint-cache.ts';
import type { ReplayDependencies } from './dependencies.ts';

/** Terms are read again after so long. */
const TERMS_KEPT_MS = 5_000;
/** The one used longest ago is forgotten first. */
const BUDGETS_MAX = 20_000;

interface Budget {
  terms: BucketTerms;
  readAt: Instant;
  bucket: Bucket | null;
}

export class Budgets {
  readonly #dependencies: Pick<ReplayDependencies, 'store' | 'clock'>;
  readonly #budgets = new Map<string, Budget>();

  constructor(dependencies: Pick<ReplayDependencies, 'store' | 'clock'>) {
    this.#dependencies = dependencies;
  }

  /** How many may be replayed now, and when one more; null: no more, ever. */
  async allowed(ref: EndpointRef): Promise<{ readonly count: number; readonly nextAt: Instant | null }> {
    const budget = await this.#budgetOf(ref);
    return availableTokens(budget.bucket, budget.terms, this.#dependencies.clock.now());
  }

  spend(ref: EndpointRef, count: number): void {
    const budget = this.#budgets.get(endpointRefKey(ref));
    if (budget === undefined) return;
    budget.bucket = takeTokens(budget.bucket, budget.terms, count, this.#dependencies.clock.now());
  }

  async #budgetOf(ref: EndpointRef): Promise<Budget> {
    const place = endpointRefKey(ref);
    const known = this.#budgets.get(place);
    const now = this.#dependencies.clock.now();
    this.#budgets.delete(place);
    // A clock that was set back does not keep old terms alive.
    const isFresh = known !== undefined && Math.abs(now - known.readAt) < TERMS_KEPT_MS;
    const budget = isFresh
      ? known
      : { terms: await this.#termsOf(ref), readAt: now, bucket: known?.bucket ?? null };
    this.#budgets.set(place, budget);
    const [oldest] = this.#budgets.keys();
    if (this.#budgets.size > BUDGETS_MAX && oldest !== undefined) this.#budgets.delete(oldest);
    return budget;
  }

  async #termsOf({ partition, endpoint }: EndpointRef): Promise<BucketTerms> {
    const id = parseId('ep', endpoint);
    const profile = id === null ? null : await this.#dependencies.store.findProfile(partition, id);
    const { rate, burst } = profile?.retryBudget ?? DEFAULT_RETRY_BUDGET;
    // Tokens are not reserved ahead here: one that comes has to have room.
    return { rate, burst: rate > 0 ? Math.max(burst, 1) : burst };
  }
}
