import { type Comparable, comparableLabels, comparablePolicy, differing } from './comparable.ts';
import type { Method } from './destination.ts';
import type { EndpointId } from './id.ts';
import type { Instant } from './instant.ts';
import type { Labels } from './labels.ts';
import { type Notify, notifyText } from './notify.ts';
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
export const RESPONSE_EXCERPT_BYTES_MAX = 16_384;
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
 * The current version of an endpoint profile. Every successful edit creates a new version. A delivery keeps the version
 * that was current when it was materialized.
 */
export interface EndpointProfile {
  readonly partition: Partition;
  readonly id: EndpointId;
  /** Unique among the unarchived profiles of the partition. */
  readonly name: string | null;
  readonly version: number;
  readonly url: string;
  readonly method: Method;
  readonly headerNames: readonly string[];
  readonly timeout: string | null;
  readonly retryPolicy: RetryPolicy;
  readonly retryBudget: RetryBudget | null;
  readonly rateLimit: RateLimit | null;
  readonly breakerPolicy: BreakerPolicy | null;
  /** How many bytes are kept of an answer that is not 2xx. Null: as the operator has set. */
  readonly responseExcerpt: number | null;
  /** Where it is told how deliveries to this profile end, unless their schedule says otherwise. */
  readonly notify: Notify | null;
  /** Whether deliveries are signed for Standard Webhooks too (`signature.ts`). */
  readonly standardWebhooks: boolean;
  readonly metadata: Labels;
  readonly archived: boolean;
  readonly createdAt: Instant;
  readonly updatedAt: Instant;
  /** Increases with every stored change, also with archiving, so that a concurrent write is noticed. */
  readonly revision: number;
}

/** A profile without the fields that a customer can make large. Sending reads many profiles at a time. */
export type FiringProfile = Omit<EndpointProfile, 'headerNames' | 'metadata'>;

/** The fields that a customer chooses. An edit may replace each of them. */
export type ProfileTerms = Pick<
  EndpointProfile,
  | 'name'
  | 'url'
  | 'method'
  | 'timeout'
  | 'retryPolicy'
  | 'retryBudget'
  | 'rateLimit'
  | 'breakerPolicy'
  | 'responseExcerpt'
  | 'notify'
  | 'standardWebhooks'
  | 'metadata'
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

/** Returns the fields in which a profile differs, as the API names them. Headers are compared elsewhere. */
export function differingFields(profile: ProfileTerms, wanted: ProfileTerms): readonly string[] {
  return differing(comparable(profile), comparable(wanted));
}

function comparable(terms: ProfileTerms): Comparable {
  const { retryBudget, rateLimit, breakerPolicy } = terms;
  return {
    url: terms.url,
    method: terms.method,
    timeout: terms.timeout,
    retry_policy: comparablePolicy(terms.retryPolicy),
    retry_budget: retryBudget && JSON.stringify([retryBudget.rate, retryBudget.burst]),
    rate_limit: rateLimit === null ? null : rateLimit.perSecond,
    breaker_policy:
      breakerPolicy &&
      JSON.stringify([
        breakerPolicy.threshold,
        breakerPolicy.baseOpen,
        breakerPolicy.maxOpen,
        breakerPolicy.probeTimeout,
      ]),
    response_excerpt: terms.responseExcerpt,
    notify: notifyText(terms.notify),
    standard_webhooks: terms.standardWebhooks,
    metadata: comparableLabels(terms.metadata),
  };
}

export function archiveProfile(profile: EndpointProfile, now: Instant): EndpointProfile {
  if (profile.archived) return profile;
  return { ...profile, archived: true, updatedAt: now, revision: profile.revision + 1 };
}
