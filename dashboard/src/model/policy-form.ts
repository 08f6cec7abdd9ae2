/** The policies of a schedule or an endpoint profile as text fields. An empty field means the default. */
import type {
  BreakerPolicy,
  RateLimit,
  RetryBudget,
  RetryPolicy,
  RetryPolicyInput,
} from '../../../sdk/src/api-types.ts';

export interface RetryForm {
  readonly maxAttempts: string;
  readonly base: string;
  readonly factor: string;
  readonly max: string;
}

export const DEFAULT_RETRY: RetryForm = { maxAttempts: '8', base: '5s', factor: '2', max: '1h' };
export const NO_RETRY: RetryForm = { maxAttempts: '', base: '', factor: '', max: '' };

export function retryFormOf(policy: RetryPolicy): RetryForm {
  return {
    maxAttempts: String(policy.max_attempts),
    base: policy.base,
    factor: String(policy.factor),
    max: policy.max,
  };
}

/** Null: every field is empty. An invalid number is sent, so that the service refuses it. */
export function retryBody(form: RetryForm): RetryPolicyInput | null {
  const body = {
    ...(form.maxAttempts.trim() !== '' && { max_attempts: numberOf(form.maxAttempts) }),
    ...(form.base.trim() !== '' && { base: form.base.trim() }),
    ...(form.factor.trim() !== '' && { factor: numberOf(form.factor) }),
    ...(form.max.trim() !== '' && { max: form.max.trim() }),
  };
  return Object.keys(body).length === 0 ? null : body;
}

export interface BreakerForm {
  readonly threshold: string;
  readonly baseOpen: string;
  readonly maxOpen: string;
  readonly probeTimeout: string;
}

export const NO_BREAKER: BreakerForm = { threshold: '', baseOpen: '', maxOpen: '', probeTimeout: '' };

export function breakerFormOf(policy: BreakerPolicy | null): BreakerForm {
  if (policy === null) return NO_BREAKER;
  return {
    threshold: String(policy.threshold),
    baseOpen: policy.base_open,
    maxOpen: policy.max_open,
    probeTimeout: policy.probe_timeout,
  };
}

/** Null: every field is empty. If only some are empty, the service refuses the policy. */
export function breakerBody(form: BreakerForm): BreakerPolicy | null {
  if (Object.values(form).every((text) => text.trim() === '')) return null;
  return {
    threshold: numberOf(form.threshold),
    base_open: form.baseOpen.trim(),
    max_open: form.maxOpen.trim(),
    probe_timeout: form.probeTimeout.trim(),
  };
}

export function budgetBody(rate: string, burst: string): RetryBudget | null {
  if (rate.trim() === '' && burst.trim() === '') return null;
  return { rate: numberOf(rate), burst: numberOf(burst) };
}

export function rateLimitBody(perSecond: string): RateLimit | null {
  return perSecond.trim() === '' ? null : { per_second: numberOf(perSecond) };
}

/** JSON has no NaN. It becomes null, which the service refuses for a required number. */
function numberOf(text: string): number {
  return text.trim() === '' ? Number.NaN : Number(text);
}
