/** Describes policies. */
import type { BreakerPolicy, RetryBudget, RetryPolicy } from '../../../sdk/src/api-types.ts';
import { parseDuration } from '../duration.ts';
import { formatBytes, formatMs, plural } from '../format.ts';

type Waits = Pick<RetryPolicy, 'max_attempts' | 'base' | 'factor' | 'max'>;

const WAITS_SHOWN = 3;

/**
 * The waits between attempts, such as `10 s, 20 s, 40 s …, at most 1 h`. The wait after attempt n is base × factor^n, at
 * most max, so the first one is not the base. Null: the policy has no waits, or it cannot be read.
 */
export function describeWaits({ max_attempts: attempts, base, factor, max }: Waits): string | null {
  const [baseMs, maxMs] = [parseDuration(base), parseDuration(max)];
  const count = Math.min(WAITS_SHOWN, attempts - 1);
  if (baseMs === null || maxMs === null || !(count > 0) || !(factor >= 1)) return null;
  const waits = Array.from({ length: count }, (_, index) =>
    formatMs(Math.floor(Math.min(maxMs, baseMs * factor ** (index + 1)))),
  );
  return waits.join(', ') + (attempts - 1 > WAITS_SHOWN ? ` …, at most ${formatMs(maxMs)}` : '');
}

export function describeRetries(policy: RetryPolicy): string {
  if (policy.max_attempts === 1) return 'one attempt, no retries';
  return `up to ${policy.max_attempts} attempts, with waits of ${describeWaits(policy) ?? policy.base}`;
}

export function describeBreaker(policy: BreakerPolicy | null): string {
  if (policy === null) return 'default of the service';
  return `opens after ${plural(policy.threshold, 'failure')} for ${policy.base_open}, at most ${policy.max_open}, probe timeout ${policy.probe_timeout}`;
}

export function describeBudget(budget: RetryBudget | null): string {
  if (budget === null) return 'default of the service (10 per second, 100 at once)';
  return `${budget.rate} per second, ${budget.burst} at once`;
}

export function describeExcerpt(bytes: number | null): string {
  if (bytes === null) return 'default of the operator';
  return bytes === 0 ? 'nothing' : `the first ${formatBytes(bytes)} of an answer that is not 2xx`;
}
