/**
 * The fields of the API as schemas: one source for validation, types and the OpenAPI document. A schema only
 * says that a value is wrong. The error code follows from the field (`faults.ts`), or from `params.code` if a
 * field has several. Further checks use `check`, which runs only if the type is right. `superRefine` would
 * create a closure for every value.
 */
import { z } from 'zod';
import { METHODS, URL_CHARACTERS_MAX } from '#src/domain/destination.ts';
import { type DurationBounds, isDurationWithin } from '#src/domain/duration.ts';
import { BREAKER_BOUNDS, RESPONSE_EXCERPT_BYTES_MAX, TIMEOUT_MAX_MS } from '#src/domain/endpoint-profile.ts';
import type { ErrorCode } from '#src/domain/errors.ts';
import { HEADERS_BYTES_MAX } from '#src/domain/headers.ts';
import { parseId } from '#src/domain/id.ts';
import { LABELS_MAX } from '#src/domain/labels.ts';
import { NAME } from '#src/domain/name.ts';
import { NOTIFIED_OUTCOMES, type NotifiedOutcome } from '#src/domain/notify.ts';
import { BODY_CHARACTERS_MAX } from '#src/domain/payload.ts';
import { DEFAULT_RETRY_POLICY, RETRY_BOUNDS } from '#src/domain/retry.ts';
import { DURATION_FORM, exampleId, idForm } from './forms.ts';

type StringMap = Readonly<Record<string, string>>;

function isStringMap(value: unknown): value is StringMap {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  const map = value as Readonly<Record<string, unknown>>;
  // Listing the names of a large map is several times faster than listing its values.
  return Object.keys(map).every((name) => typeof map[name] === 'string');
}

/** Adds an issue that has its own error code. */
function addFault<T>({ issues, value }: z.core.ParsePayload<T>, code: ErrorCode): void {
  issues.push({ code: 'custom', input: value, params: { code } });
}

function stringMap(
  description: string,
  example: StringMap,
  bounds: { readonly maxProperties?: number; readonly valueCharactersMax?: number },
) {
  const { maxProperties, valueCharactersMax } = bounds;
  return z.custom<StringMap>(isStringMap).meta({
    description,
    override: {
      type: 'object',
      additionalProperties: {
        type: 'string',
        ...(valueCharactersMax !== undefined && { maxLength: valueCharactersMax }),
      },
      ...(maxProperties !== undefined && { maxProperties }),
      example,
    },
  });
}

export const method = z
  .enum(METHODS)
  .meta({ description: 'The HTTP method of the request. The default is POST.', example: 'POST' });

export const url = z.string().meta({
  format: 'uri',
  maxLength: URL_CHARACTERS_MAX,
  description:
    'The HTTPS URL to send to, without credentials. Its address is checked at every connection and must be public.',
  example: 'https://example.com/hooks/reminder',
});

export const endpointId = z
  .string()
  .refine((text) => parseId('ep', text) !== null)
  .meta({
    ...idForm('ep'),
    description:
      'The endpoint profile to send to, instead of `endpoint`. URL, method and timeout come from the profile.',
    example: exampleId('ep'),
  });

export const headers = stringMap(
  'Custom headers. They are encrypted at rest, and their values are never returned. Names and values together have at most 16,384 bytes. Names such as `Host` that belong to the connection dead-letter the delivery.',
  { 'X-Tenant': 'acme' },
  { valueCharactersMax: HEADERS_BYTES_MAX },
).check((payload) => {
  const { value } = payload;
  let bytes = 0;
  for (const name of Object.keys(value)) {
    bytes += Buffer.byteLength(name) + Buffer.byteLength(value[name] ?? '');
    if (bytes > HEADERS_BYTES_MAX) break;
  }
  if (bytes > HEADERS_BYTES_MAX) addFault(payload, 'payload_too_large');
});

/** A label must be valid UTF-8 without NUL, which PostgreSQL cannot store. */
function isPlainText(text: string): boolean {
  return text.isWellFormed() && !text.includes('\0');
}

export const metadata = stringMap(
  'Up to 50 labels, each a name and a value. The list of schedules can be filtered by them.',
  { team: 'billing' },
  { maxProperties: LABELS_MAX },
).check((payload) => {
  const { value } = payload;
  const names = Object.keys(value);
  if (!names.every((name) => isPlainText(name) && isPlainText(value[name] ?? ''))) {
    addFault(payload, 'invalid_request');
  }
  if (names.length > LABELS_MAX) addFault(payload, 'too_many_labels');
});

export const body = z
  .string()
  .check((payload) => {
    const { value } = payload;
    // A lone surrogate has no UTF-8 form, so it could not be sent unchanged.
    if (!value.isWellFormed()) addFault(payload, 'invalid_request');
    if (hasMoreCharacters(value, BODY_CHARACTERS_MAX)) addFault(payload, 'payload_too_large');
  })
  .meta({
    description:
      'The request body, as text. It is sent unchanged as UTF-8, encrypted at rest and never returned. A body that is JSON is sent as `application/json`, unless a header says otherwise.',
    maxLength: BODY_CHARACTERS_MAX,
    example: '{"hello":"world"}',
  });

/** Counts a surrogate pair as one character. */
function hasMoreCharacters(text: string, max: number): boolean {
  if (text.length <= max || text.length > 2 * max) return text.length > max;
  let lowSurrogates = 0;
  for (let at = 0; at < text.length; at++) if ((text.charCodeAt(at) & 0xfc00) === 0xdc00) lowSurrogates++;
  return text.length - lowSurrogates > max;
}

/** The key is sent in a header, so it has only characters that a header can carry. */
const IDEMPOTENCY_KEY = /^[\u0021-\u007e](?:[\u0020-\u007e]{0,253}[\u0021-\u007e])?$/;

export const idempotencyKey = z.string().regex(IDEMPOTENCY_KEY).meta({
  description:
    'The receiver gets it as the header `Idempotency-Key` and deduplicates on it. A recurring schedule appends the instant of each occurrence. The default is the id of the delivery, or of the recurring schedule.',
  minLength: 1,
  maxLength: 255,
  example: 'invoice-4711',
});

/** A duration as in Go within bounds, compared to the nanosecond. */
function duration(description: string, example: string, bounds: DurationBounds = {}) {
  return z
    .string()
    .refine((text) => isDurationWithin(text, bounds))
    .meta({ ...DURATION_FORM, description, example });
}

function name(ofWhat: string, example: string) {
  return z
    .string()
    .regex(NAME)
    .meta({
      description: `A name for the ${ofWhat}, unique in this project and mode as long as it has not ended. Up to 255 letters, digits, \`.\`, \`_\`, \`:\` and \`-\`, beginning with a letter or digit.`,
      pattern: NAME.source,
      example,
    });
}

export const scheduleName = name('schedule', 'nightly-report');
export const endpointName = name('endpoint profile', 'billing-hooks');

export const ttl = duration(
  'A delivery expires this long after its scheduled instant, and no retry is made after that. By default it never expires.',
  '24h',
);
export const jitter = duration(
  'Each occurrence is moved by up to this time, earlier or later. The shift of an occurrence is always the same. The default is no shift.',
  '30s',
  {
    minMs: 0,
  },
);

/** Nested fields of a policy may be null, which counts as absent. */
export const retryPolicy = z
  .object({
    max_attempts: z.int().min(RETRY_BOUNDS.maxAttempts.min).max(RETRY_BOUNDS.maxAttempts.max).nullish().meta({
      description: 'The number of attempts, the first one included. The default is 8.',
      example: DEFAULT_RETRY_POLICY.maxAttempts,
    }),
    strategy: z
      .literal('exponential')
      .nullish()
      .meta({ description: 'How the waits grow. Only `exponential` exists.', example: 'exponential' }),
    base: duration('The wait that `factor` multiplies. 0 to 24h. The default is 5s.', '5s', {
      minMs: RETRY_BOUNDS.baseMs.min,
      maxMs: RETRY_BOUNDS.baseMs.max,
    }).nullish(),
    factor: z.number().min(RETRY_BOUNDS.factor.min).max(RETRY_BOUNDS.factor.max).nullish().meta({
      description: 'Each wait is this many times as long as the one before. The default is 2.',
      example: DEFAULT_RETRY_POLICY.factor,
    }),
    max: duration('The longest wait between two attempts. 0 to 168h. The default is 1h.', '1h', {
      minMs: RETRY_BOUNDS.maxMs.min,
      maxMs: RETRY_BOUNDS.maxMs.max,
    }).nullish(),
    jitter: z.boolean().nullish().meta({
      description: 'It is stored and returned, but has no effect: the backoff is exact. The default is true.',
      example: DEFAULT_RETRY_POLICY.jitter,
    }),
  })
  .meta({
    id: 'RetryPolicyInput',
    description:
      'When failed attempts are repeated. The retry after attempt n is due min(`max`, `base` × `factor`^n) after the end of that attempt. Fields that are left out have their defaults.',
  });

export const timeout = duration(
  'The longest time of one attempt, above 0 and at most 1h. The default is 30s.',
  '10s',
  {
    aboveMs: 0,
    maxMs: TIMEOUT_MAX_MS,
  },
);

export const retryBudget = z
  .object({
    rate: z.number().min(0).meta({ description: 'The retries per second.', example: 10 }),
    burst: z.number().min(0).meta({ description: 'The retries that may be made at once.', example: 100 }),
  })
  .meta({
    id: 'RetryBudget',
    description:
      'A token bucket for the retries to this endpoint. A retry without a token waits for one. The default is a rate of 10 and a burst of 100.',
  });

export const rateLimit = z
  .object({
    per_second: z
      .number()
      .min(0)
      .meta({ description: 'The largest number of deliveries per second. 0 means no limit.', example: 5 }),
  })
  .meta({ id: 'RateLimit', description: 'How many deliveries per second an endpoint gets.' });

const openWindow = (description: string, example: string) =>
  duration(`${description} Above 0 and at most 24h.`, example, {
    aboveMs: 0,
    maxMs: BREAKER_BOUNDS.windowMaxMs,
  });

export const responseExcerpt = z.int().min(0).max(RESPONSE_EXCERPT_BYTES_MAX).meta({
  description:
    'How many bytes to keep of an answer that is not 2xx. The first bytes are encrypted and kept with the attempt. 0 keeps none. The default is set by the operator.',
  example: 4096,
});

const OUTCOMES: ReadonlySet<unknown> = new Set(NOTIFIED_OUTCOMES);

/** One check of the whole list: a long list of wrong values would make an issue for each. */
function isOutcomes(value: unknown): value is readonly NotifiedOutcome[] {
  return (
    Array.isArray(value) &&
    value.length <= NOTIFIED_OUTCOMES.length &&
    value.every((outcome, at) => OUTCOMES.has(outcome) && value.indexOf(outcome) === at)
  );
}

export const notifyOutcomes = z.custom<readonly NotifiedOutcome[]>(isOutcomes).meta({
  description: 'The outcomes that are told, each at most once. With an empty list nobody is told.',
  override: {
    type: 'array',
    items: { type: 'string', enum: [...NOTIFIED_OUTCOMES] },
    maxItems: NOTIFIED_OUTCOMES.length,
    uniqueItems: true,
    example: ['dead_letter', 'expired'],
  },
});

export const notify = z
  .object({
    endpoint_id: endpointId.nullish().meta({
      ...idForm('ep'),
      description:
        'The endpoint profile that gets the notifications. It must not be archived. It may be left out if `on` is empty.',
      example: exampleId('ep'),
    }),
    on: notifyOutcomes,
  })
  .check(({ value, issues }) => {
    if (value.on.length > 0 && !value.endpoint_id)
      issues.push({ code: 'custom', input: value.endpoint_id, path: ['endpoint_id'] });
  })
  .meta({
    id: 'NotifyInput',
    description:
      'Who is told how a delivery ended. When a delivery ends with one of these outcomes, Sched sends a notification to the endpoint profile.',
  });

export const standardWebhooks = z.boolean().meta({
  description:
    'Whether requests are signed for [Standard Webhooks](https://www.standardwebhooks.com) too. They then carry the headers `webhook-id`, `webhook-timestamp` and `webhook-signature` beside those of Sched. Every signing secret in force must be `whsec_` and base64. The default is false.',
  example: false,
});

export const breakerPolicy = z
  .object({
    threshold: z.int().min(BREAKER_BOUNDS.threshold.min).max(BREAKER_BOUNDS.threshold.max).meta({
      description: 'The breaker opens after this many failures in a row.',
      example: 5,
    }),
    base_open: openWindow('How long the breaker stays open at first.', '30s'),
    max_open: openWindow('How long it stays open at most. The time doubles with each failed probe.', '1h'),
    probe_timeout: openWindow('How long other deliveries wait for the result of a probe.', '30s'),
  })
  .meta({
    id: 'BreakerPolicy',
    description:
      'When to stop sending to a failing endpoint, and for how long. All four fields are required. The default opens after 5 failures, for 30s to 1h.',
  });
