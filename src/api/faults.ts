/**
 * Decides which error a wrong body gets. Each fault gets the code of its field. Of several faults, the first in
 * the order of the API is reported.
 */
import type { z } from 'zod';
import { ERRORS, type ErrorCode, Refusal } from '#src/domain/errors.ts';
import type { Fault } from '#src/domain/timing.ts';
import { bodyFaultText, type RefusedBody } from '#src/texts/body-fault-text.ts';

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
  name: 'invalid_name',
  response_excerpt: 'invalid_response_excerpt',
  notify: 'invalid_notify',
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

/** The place of the fault. The path is empty if a field is missing. */
interface Found {
  readonly code: ErrorCode;
  readonly path: readonly PropertyKey[];
}

export class Faults {
  readonly #refused: RefusedBody;
  #first: Found | null = null;

  constructor(refused: RefusedBody) {
    this.#refused = refused;
  }

  add(code: ErrorCode, param: string | null): void {
    this.#add({ code, path: param === null ? [] : [param] });
  }

  addFault({ code, param }: Fault): void {
    this.add(code, param);
  }

  /** Adds the issues of a schema. `params.code` names the code if a field has several. */
  addIssues(issues: readonly z.core.$ZodIssue[]): void {
    for (const issue of issues) {
      const { path } = issue;
      const own = issue.code === 'custom' ? (issue.params?.code as ErrorCode | undefined) : undefined;
      this.#add({ code: own ?? CODE_OF_FIELD[String(path[0])] ?? 'invalid_request', path });
    }
  }

  #add(found: Found): void {
    if (this.#first === null || rank(found.code) < rank(this.#first.code)) this.#first = found;
  }

  throwIfAny(): void {
    if (this.#first === null) return;
    const { code, path } = this.#first;
    const param = path[0] === undefined ? null : String(path[0]);
    throw new Refusal(code, param, bodyFaultText(code, path, this.#refused));
  }
}
