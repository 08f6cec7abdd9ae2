/**
 * Which error a bad body gets. A field with a code of its own answers with that code for every fault in it;
 * among several faults the first in the order of the interface is told.
 */
import type { z } from 'zod';
import { ERRORS, type ErrorCode, Refusal } from '#src/domain/errors.ts';
import type { Fault } from '#src/domain/timing.ts';

/** Fields that are not here have no code of their own: `invalid_request`. */
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

const FIRST: readonly ErrorCode[] = [
  'multiple_endpoint',
  'method_on_profile',
  'invalid_method',
  'multiple_timing',
  'missing_timing',
  'missing_endpoint',
];

function rank(code: ErrorCode): number {
  // The profile is looked up last, and what is no id cannot be found.
  if (code === 'invalid_endpoint') return Number.POSITIVE_INFINITY;
  const place = FIRST.indexOf(code);
  return place >= 0 ? place : FIRST.length + ERRORS[code].status;
}

export class Faults {
  #worst: { readonly code: ErrorCode; readonly param: string | null } | null = null;

  add(code: ErrorCode, param: string | null): void {
    if (this.#worst === null || rank(code) < rank(this.#worst.code)) this.#worst = { code, param };
  }

  addFault({ code, param }: Fault): void {
    this.add(code, param);
  }

  /** What a schema found wrong; `params.code` names the code where a field has several. */
  addIssues(issues: readonly z.core.$ZodIssue[]): void {
    for (const issue of issues) {
      const param = String(issue.path[0]);
      const own = issue.code === 'custom' ? (issue.params?.code as ErrorCode | undefined) : undefined;
      this.add(own ?? CODE_OF_FIELD[param] ?? 'invalid_request', param);
    }
  }

  throwIfAny(): void {
    if (this.#worst !== null) throw new Refusal(this.#worst.code, this.#worst.param);
  }
}
