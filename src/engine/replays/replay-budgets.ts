/**
 * Limits how many replays each endpoint gets now, by a token bucket with the terms of its retry budget. All jobs of this
 * process share the buckets. The terms are those of the current profile, or at most some seconds older.
 *
 * Buckets are kept in memory only. After a restart they are full, so an endpoint may get its burst once more.
 */
import type { EndpointRef } from '#src/domain/due-delivery.ts';
import { DEFAULT_RETRY_BUDGET } from '#src/domain/endpoint-profile.ts';
import { parseId } from '#src/domain/id.ts';
import type { Instant } from '#src/domain/instant.ts';
import { availableTokens, type Bucket, type BucketTerms, takeTokens } from '#src/domain/token-bucket.ts';
import { endpointRefKey } from '#src/ports/endpoint-cache.ts';
import { largeCache } from '#src/ports/large-cache.ts';
import type { Store } from '#src/ports/store.ts';
import type { Clock } from '#src/ports/system.ts';

/** Terms are read again after this time. */
const TERMS_TTL_MS = 5_000;
const BUDGETS_MAX = 20_000;

interface Budget {
  readonly terms: BucketTerms;
  readonly readAt: Instant;
  bucket: Bucket | null;
}

export interface ReplayBudgetsDependencies {
  readonly store: Pick<Store, 'findProfile'>;
  readonly clock: Clock;
}

export class ReplayBudgets {
  readonly #dependencies: ReplayBudgetsDependencies;
  readonly #budgets = largeCache<string, Budget>(BUDGETS_MAX);

  constructor(dependencies: ReplayBudgetsDependencies) {
    this.#dependencies = dependencies;
  }

  /** Returns how many may be replayed now, and when one more may be; null when that is never. */
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
    const key = endpointRefKey(ref);
    const known = this.#budgets.get(key);
    const now = this.#dependencies.clock.now();
    // A clock that was set back must not keep old terms alive.
    if (known !== undefined && Math.abs(now - known.readAt) < TERMS_TTL_MS) return known;
    const terms = await this.#readTerms(ref);
    const budget = { terms, readAt: now, bucket: known?.bucket ?? null };
    this.#budgets.set(key, budget);
    return budget;
  }

  async #readTerms({ partition, endpoint }: EndpointRef): Promise<BucketTerms> {
    const id = parseId('ep', endpoint);
    const profile = id === null ? null : await this.#dependencies.store.findProfile(partition, id);
    const { rate, burst } = profile?.retryBudget ?? DEFAULT_RETRY_BUDGET;
    // Replays do not reserve tokens ahead, so the bucket must be able to hold one.
    return { rate, burst: rate > 0 ? Math.max(burst, 1) : burst };
  }
}
