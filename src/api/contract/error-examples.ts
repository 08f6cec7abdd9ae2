/**
 * An example of each error: the answer to one request that causes it. The messages come from the texts themselves, and
 * `test/e2e/documented-examples.test.ts` compares them with the answers of the service.
 */
import { wrongCursorText } from '#src/api/cursor.ts';
import { unknownField } from '#src/api/unknown-field.ts';
import { ERRORS, type ErrorCode } from '#src/domain/errors.ts';
import { instant } from '#src/domain/instant.ts';
import { BODY_CHARACTERS_MAX } from '#src/domain/payload.ts';
import { bodyFaultText } from '#src/texts/body-fault-text.ts';
import { longIdempotencyHeaderText } from '#src/texts/field-fault-text.ts';
import { noObjectText } from '#src/texts/id-fault-text.ts';
import { jsonSyntaxText } from '#src/texts/json-fault-text.ts';
import { standardSecretText } from '#src/texts/secret-fault-text.ts';
import {
  notCancelableText,
  notReplayableText,
  profileArchivedText,
  scheduleEndedText,
} from '#src/texts/state-fault-text.ts';
import { exampleId } from './forms.ts';
import { OPERATIONS } from './operations.ts';
import type { ErrorResource } from './resources.ts';

interface Example {
  /** The field at fault. Null if the error has none. */
  readonly param: string | null;
  readonly message: string;
}

const NOW = instant(Date.UTC(2026, 10, 15, 8));
const URL = 'https://example.com/hook';

/** The example of a wrong body. `path` leads to the field at fault. */
function ofBody(code: ErrorCode, path: readonly string[], body: Readonly<Record<string, unknown>>): Example {
  const message = bodyFaultText(code, path, { body, now: NOW, httpAllowed: false });
  return { param: path[0] ?? null, message };
}

/** The example of an error that always has the same message, or that is about no field. */
function of(code: ErrorCode, param: string | null = null, message: string = ERRORS[code].message): Example {
  return { param, message };
}

function exampleOf(code: ErrorCode): Example {
  switch (code) {
    case 'not_found':
      return of(code, null, noObjectText(exampleId('sch')));
    case 'invalid_request':
      return ofBody(code, ['metadata'], { metadata: { count: 42 } });
    case 'unknown_field':
      return of(code, 'timeout', unknownField(OPERATIONS.createSchedule, ['timeout']).message);
    case 'invalid_json':
      return of(code, null, jsonSyntaxText('{"delay": "5m",}', 15));
    case 'invalid_duration':
      return ofBody(code, ['delay'], { delay: '1d' });
    case 'invalid_fire_at':
      return ofBody(code, ['fire_at'], { fire_at: '2027-01-01T09:00:00' });
    case 'multiple_timing':
      return ofBody(code, ['cron'], { delay: '5m', cron: '0 9 * * *' });
    case 'multiple_endpoint':
      return ofBody(code, ['endpoint_id'], { endpoint: URL, endpoint_id: exampleId('ep') });
    case 'method_on_profile':
      return ofBody(code, ['method'], { endpoint_id: exampleId('ep'), method: 'PUT' });
    case 'invalid_method':
      return ofBody(code, ['method'], { method: 'post' });
    case 'invalid_cursor':
      return of(code, 'cursor', wrongCursorText('schedules', 'abc'));
    case 'invalid_version':
      return of(code, 'Sched-Version');
    case 'payload_too_large':
      return ofBody(code, ['body'], { body: ' '.repeat(BODY_CHARACTERS_MAX + 1) });
    case 'idempotency_key_too_long':
      return of(code, null, longIdempotencyHeaderText(300));
    case 'not_replayable':
      return of(code, null, notReplayableText('retry_scheduled'));
    case 'not_cancelable':
      return of(code, null, notCancelableText('succeeded'));
    case 'name_taken':
      return of(code, 'name');
    case 'schedule_not_active':
      return of(code, null, scheduleEndedText('completed'));
    case 'missing_timing':
      return ofBody(code, [], { endpoint: URL });
    case 'missing_endpoint':
      return ofBody(code, ['endpoint'], { delay: '5m' });
    case 'sub_floor_delay':
      return ofBody(code, ['delay'], { delay: '500ms' });
    case 'fire_at_in_past':
      return ofBody(code, ['fire_at'], { fire_at: '2026-01-01T09:00:00Z' });
    case 'fire_at_too_far':
      return ofBody(code, ['fire_at'], { fire_at: '2040-01-01T09:00:00Z' });
    case 'invalid_cron':
      return ofBody(code, ['cron'], { cron: '0 25 * * *' });
    case 'too_many_labels': {
      const labels = Array.from({ length: 51 }, (_, at) => [`label${at}`, 'x']);
      return ofBody(code, ['metadata'], { metadata: Object.fromEntries(labels) });
    }
    case 'url_blocked':
      return ofBody(code, ['endpoint'], { endpoint: 'http://example.com/hook' });
    case 'invalid_retry_policy':
      return ofBody(code, ['retry_policy', 'max_attempts'], { retry_policy: { max_attempts: 100 } });
    case 'invalid_name':
      return ofBody(code, ['name'], { name: 'nightly report' });
    case 'invalid_response_excerpt':
      return ofBody(code, ['response_excerpt'], { response_excerpt: 100_000 });
    case 'invalid_notify':
      return ofBody(code, ['notify', 'on'], { notify: { endpoint_id: exampleId('ep'), on: ['failed'] } });
    case 'missing_url':
      return ofBody(code, ['url'], {});
    case 'invalid_endpoint':
      return of(code, 'endpoint_id', noObjectText(exampleId('ep')));
    case 'endpoint_archived':
      return of(code, 'endpoint_id', profileArchivedText(exampleId('ep')));
    case 'invalid_timeout':
      return ofBody(code, ['timeout'], { timeout: 30 });
    case 'invalid_retry_budget':
      return ofBody(code, ['retry_budget', 'burst'], { retry_budget: { rate: 10 } });
    case 'invalid_signature':
      return of(code, 'standard_webhooks', standardSecretText('project', null));
    case 'invalid_rate_limit':
      return ofBody(code, ['rate_limit'], { rate_limit: 5 });
    case 'invalid_breaker_policy':
      return ofBody(code, ['breaker_policy', 'base_open'], { breaker_policy: { threshold: 5 } });
    case 'missing_api_key':
    case 'invalid_api_key':
    case 'idempotency_key_reuse':
    case 'idempotency_in_progress':
    case 'profile_in_use':
    case 'delivery_in_progress':
    case 'internal_error':
    case 'unavailable':
      return of(code);
  }
}

/** Returns the examples by code, as components of the document. */
export function errorExamples(): Record<string, { summary: string; value: ErrorResource }> {
  return Object.fromEntries(
    (Object.keys(ERRORS) as ErrorCode[]).map((code) => {
      const { status, type } = ERRORS[code];
      const { message, param } = exampleOf(code);
      const value: ErrorResource = {
        error: { type, code, message, param, request_id: exampleId('req') },
      };
      return [code, { summary: `${status} ${code}`, value }];
    }),
  );
}
