import type { Method } from './destination.ts';
import type { EndpointId } from './id.ts';
import type { Instant } from './instant.ts';
import type { Labels } from './labels.ts';
import type { Partition } from './project.ts';
import type { RetryPolicy } from './retry.ts';

export interface RetryBudget {
  readonly rate: number;
  readonly burst: number;
}

export interface RateLimit {
  readonly perSecond: number;
}

export interface BreakerPolicy {
  readonly threshold: number;
  readonly baseOpen: string;
  readonly maxOpen: string;
  readonly probeTimeout: string;
}

const HOUR_MS = 3_600_000;

export const TIMEOUT_MAX_MS = HOUR_MS;
export const BREAKER_BOUNDS = { threshold: { min: 1, max: 1000 }, windowMaxMs: 24 * HOUR_MS } as const;

export const DEFAULT_TIMEOUT_MS = 30_000;
export const DEFAULT_RETRY_BUDGET: RetryBudget = { rate: 10, burst: 100 };
export const DEFAULT_BREAKER_POLICY: BreakerPolicy = {
  threshold: 5,
  baseOpen: '30s',
  maxOpen: '1h',
  probeTimeout: '30s',
};

/**
 * An endpoint profile as it is now. Every successful edit makes a new version; a delivery names the
 * version that was in force when it was materialized, and stays with it.
 */
export interface EndpointProfile {
  readonly partition: Partition;
  readonly id: EndpointId;
  readonly version: number;
  readonly url: string;
  readonly method: Method;
  readonly headerNames: readonly string[];
  readonly timeout: string | null;
  readonly retryPolicy: RetryPolicy;
  readonly retryBudget: RetryBudget | null;
  readonly rateLimit: RateLimit | null;
  readonly breakerPolicy: BreakerPolicy | null;
  readonly metadata: Labels;
  readonly archived: boolean;
  readonly createdAt: Instant;
  readonly updatedAt: Instant;
  /** Rises with every stored change, archiving included: what a concurrent writer is checked against. */
  readonly revision: number;
}

/** A profile without what its customer may make large: firing reads many of them at one time. */
export type FiringProfile = Omit<EndpointProfile, 'headerNames' | 'metadata'>;

/** What a customer decides; an edit may replace any of it. */
export type ProfileTerms = Pick<
  EndpointProfile,
  'url' | 'method' | 'timeout' | 'retryPolicy' | 'retryBudget' | 'rateLimit' | 'breakerPolicy' | 'metadata'
>;

export type ProfileEdit = Partial<ProfileTerms & Pick<EndpointProfile, 'headerNames'>>;

export function editProfile(profile: EndpointProfile, edit: ProfileEdit, now: Instant): EndpointProfile {
  return {
    ...profile,
    ...edit,
    version: profile.version + 1,
    updatedAt: now,
    revision: profile.revision + 1,
  };
}

export function archiveProfile(profile: EndpointProfile, now: Instant): EndpointProfile {
  if (profile.archived) return profile;
  return { ...profile, archived: true, updatedAt: now, revision: profile.revision + 1 };
}
