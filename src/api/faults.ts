/**
 * Decides which error a wrong body gets. Each fault gets the code of its field. Of several faults, the first in
 * the order of the API is reported.
 */
import type { z } from 'zod';
import { ERRORS, type ErrorCode, Refusal } from '#src/domain/errors.ts';
import type { Fault } from '#src/domain/timing.ts';

/** All other fields have the code `invalid_request`. */
const CODE_OF_FIELD: Readonly<Record<string, ErrorCode>> = {
  endpoint: 'url_blocked',
  url: 'url_blocked',
  endpoint_id: 'invalid_endpoint',
  method: 'invalid_method',
  delay: 'invalid_duration',
  local_fire_at: 'invalid_duration',
  ttl: 'invalid_duration',
  jitter: 'invalid_duration',
  fire_at: 'invalid_fire_at',
  cron: 'invalid_cron',
  timezone: 'invalid_cron',
  retry_policy: 'invalid_retry_policy',
  timeout: 'invalid_timeout',
  retry_budget: 'invalid_retry_budget',
  rate_limit: 'invalid_rate_limit',
  breaker_policy: 'invalid_breaker_policy',
};

const REPORTED_FIRST: readonly ErrorCode[] = [
  'multiple_endpoint',
  'method_on_profile',
  'invalid_method',
  'multiple_timing',
  'missing_timing',
  'missing_endpoint',
];

function rank(code: ErrorCode): number {
  // The profile is looked up last, and a text that is not an id is reported like an unknown profile.
  if (code === 'invalid_endpoint') return Number.POSITIVE_INFINITY;
  const index = REPORTED_FIRST.indexOf(code);
  return index >= 0 ? index : REPORTED_FIRST.length + ERRORS[code].status;
}

export class Faults {
  #first: { readonly code: ErrorCode; readonly param: string | null } | null = null;

  add(code: ErrorCode, param: string | null): void {
    if (this.#first === null || rank(code) < rank(this.#first.code)) this.#first = { code, param };
  }

  addFault({ code, param }: Fault): void {
    this.add(code, param);
  }

  /** Adds the issues of a schema. `params.code` names the code if a field has several. */
  addIssues(issues: readonly z.core.$ZodIssue[]): void {
    for (const issue of issues) {
      const param = String(issue.path[0]);
      const own = issue.code === 'custom' ? (issue.params?.code as ErrorCode | undefined) : undefined;
      this.add(own ?? CODE_OF_FIELD[param] ?? 'invalid_request', param);
    }
  }

  throwIfAny(): void {
    if (this.#first !== null) throw new Refusal(this.#first.code, this.#first.param);
  }
}
