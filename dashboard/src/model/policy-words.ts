/** Policies in words. */
import type { BreakerPolicy, RetryBudget, RetryPolicy } from '../../../sdk/src/api-types.ts';
import { plural } from '../format.ts';

export function retryWords({ max_attempts: attempts, base, factor, max }: RetryPolicy): string {
  if (attempts === 1) return 'one attempt, no retries';
  return `up to ${attempts} attempts; waits from ${base}, times ${factor} each, at most ${max}`;
}

export function breakerWords(policy: BreakerPolicy | null): string {
  if (policy === null) return 'as the service has it by default';
  return `opens after ${plural(policy.threshold, 'failure')} for ${policy.base_open}, at most ${policy.max_open}; a probe may take ${policy.probe_timeout}`;
}

export function budgetWords(budget: RetryBudget | null): string {
  if (budget === null) return 'as the service has it by default (10 a second, 100 at once)';
  return `${budget.rate} a second, ${budget.burst} at once`;
}
