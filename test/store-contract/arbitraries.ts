/** fast-check arbitraries for parts of domain objects: everything that the API lets into the store, and more. */
import * as fc from 'fast-check';
import { type AttemptTiming, DELIVERY_STATUSES, type Delivery } from '#src/domain/delivery.ts';
import { METHODS } from '#src/domain/destination.ts';
import type { EndpointProfile } from '#src/domain/endpoint-profile.ts';
import type { Gate } from '#src/domain/gate.ts';
import type { AttemptId, EndpointId } from '#src/domain/id.ts';
import { type Instant, instant } from '#src/domain/instant.ts';
import { type Labels, labelDigests } from '#src/domain/labels.ts';
import { type ActiveNotify, NOTIFIED_OUTCOMES, type Notify } from '#src/domain/notify.ts';
import type { RetryPolicy } from '#src/domain/retry.ts';
import { SCHEDULE_STATES, type Schedule, type Timing } from '#src/domain/schedule.ts';
import type { Receipt } from '#src/ports/store.ts';

const SPICES = [
  '',
  ' ',
  `'; DROP TABLE schedules; --`,
  `"quoted" 'twice' \`thrice\` \\ %_?*:name $1 @p`,
  'line\r\nbreak\ttab',
  '\u007f\u0085\u2028\u2029\ufeff',
  'Ünïcödé 試験 🙈🏽 עברית \u0301\u200d',
  '__proto__',
  'null',
  '\u{10ffff}',
  'x'.repeat(20_000),
  '🙈'.repeat(5_000),
];

/** Text that a label may hold: all of Unicode except NUL. */
export const plainText: fc.Arbitrary<string> = fc.oneof(
  fc.constantFrom(...SPICES),
  fc.string({ unit: 'binary', maxLength: 60 }).map((text) => text.replaceAll('\0', '')),
);

/** Header names are stored as given, even if they cannot be sent: with NUL and unpaired surrogates. */
export const anyText: fc.Arbitrary<string> = fc.oneof(
  plainText,
  fc
    .array(fc.integer({ min: 0, max: 0xffff }), { maxLength: 30 })
    .map((units) => String.fromCharCode(...units)),
);

/** Characters that HTTP allows in a header. */
export const latin1: fc.Arbitrary<string> = fc.string({
  unit: fc.integer({ min: 0x20, max: 0xff }).map((code) => String.fromCharCode(code)),
  minLength: 1,
  maxLength: 255,
});

export const anyInstant: fc.Arbitrary<Instant> = fc
  .integer({ min: 0, max: 253_402_300_799_999 })
  .map(instant);

export const labels: fc.Arbitrary<Labels> = fc.uniqueArray(fc.tuple(plainText, plainText), {
  maxLength: 6,
  selector: ([name]) => name,
});

const durationText = fc.constantFrom(
  '0',
  '1s',
  '1h30m',
  '2µs',
  '2μs',
  '-5m',
  '+1.5h',
  '2562047h47m16.854775807s',
);
const count = fc.integer({ min: 0, max: 1_000_000 });
const rate = fc.double({ min: 0, max: 1e9, noNaN: true }).map((value) => value + 0);

export const retryPolicy: fc.Arbitrary<RetryPolicy> = fc.record({
  maxAttempts: fc.integer({ min: 1, max: 50 }),
  strategy: fc.constant('exponential' as const),
  base: durationText,
  factor: fc.double({ min: 1, max: 100, noNaN: true }),
  max: durationText,
  jitter: fc.boolean(),
});

const url = fc.oneof(
  fc.webUrl({ validSchemes: ['https'], withQueryParameters: true }),
  fc.constant('https://bücher.example/ü?q=\'"#é'),
);
const zone = fc.constantFrom('UTC', 'Europe/Berlin', 'america/argentina/comodrivadavia');

const timing: fc.Arbitrary<Timing> = fc.oneof(
  fc.record({
    kind: fc.constant('one_shot' as const),
    fireAt: anyInstant,
    timezone: fc.option(zone),
  }),
  fc.record({
    kind: fc.constant('recurring' as const),
    cron: fc.constantFrom('* * * * *', '  0\t9 * jan-MAR mon,7/2 '),
    timezone: zone,
  }),
);

const activeNotify: fc.Arbitrary<ActiveNotify> = fc.record({
  endpointId: fc.constant('ep_01jcq3v8k4zqgw5m2r7n9x0abc' as EndpointId),
  on: fc.subarray([...NOTIFIED_OUTCOMES], { minLength: 1 }),
});
const anyNotify: fc.Arbitrary<Notify> = fc.oneof(
  activeNotify,
  fc.record({ endpointId: fc.constant(null), on: fc.constant([]) }),
  activeNotify.map((notify) => ({ ...notify, on: [] })),
);

/** Fields of a schedule that can change. */
export const scheduleChanges: fc.Arbitrary<
  Pick<
    Schedule,
    | 'state'
    | 'timing'
    | 'destination'
    | 'ttl'
    | 'retryPolicy'
    | 'notify'
    | 'metadata'
    | 'labelDigests'
    | 'cronAt'
    | 'lastOccurrence'
    | 'updatedAt'
    | 'endedAt'
  >
> = fc
  .record({
    state: fc.constantFrom(...SCHEDULE_STATES),
    timing,
    destination: fc.record({
      kind: fc.constant('inline' as const),
      url,
      method: fc.constantFrom(...METHODS),
    }),
    ttl: fc.option(durationText),
    retryPolicy: fc.option(retryPolicy),
    notify: fc.option(anyNotify),
    metadata: labels,
    cronAt: fc.option(anyInstant),
    lastOccurrence: fc.option(anyInstant),
    updatedAt: anyInstant,
    endedAt: fc.option(anyInstant),
  })
  .map((changes) => ({ ...changes, labelDigests: labelDigests(changes.metadata, null) }));

/** Fields of a schedule that never change. */
export const scheduleConstants: fc.Arbitrary<
  Pick<Schedule, 'headerNames' | 'payloadBytes' | 'jitter' | 'idempotencyKey' | 'rateLimit'>
> = fc.record({
  headerNames: fc.array(anyText, { maxLength: 5 }),
  payloadBytes: fc.integer({ min: 0, max: 1_100_000 }),
  jitter: fc.option(durationText),
  idempotencyKey: fc.option(latin1),
  rateLimit: fc.option(fc.record({ perSecond: rate })),
});

export const deliveryChanges: fc.Arbitrary<
  Pick<
    Delivery,
    | 'status'
    | 'occurrence'
    | 'scheduledFor'
    | 'dueAt'
    | 'reserved'
    | 'ttl'
    | 'deadline'
    | 'attemptCount'
    | 'lastStatusCode'
    | 'error'
    | 'idempotencyKey'
    | 'notify'
    | 'target'
    | 'retryPolicy'
    | 'claim'
    | 'finalizedAt'
  >
> = fc
  .record({
    status: fc.constantFrom(...DELIVERY_STATUSES),
    occurrence: anyInstant,
    scheduledFor: anyInstant,
    dueAt: fc.option(anyInstant),
    reserved: fc.boolean(),
    ttl: fc.option(durationText),
    deadline: fc.option(fc.integer({ min: -1e12, max: 1e15 }).map(instant)),
    attemptCount: count,
    lastStatusCode: fc.option(fc.integer({ min: 100, max: 999 })),
    error: fc.option(plainText),
    idempotencyKey: latin1,
    notify: fc.option(activeNotify),
    target: fc.record({
      url,
      method: fc.constantFrom(...METHODS),
      endpointId: fc.constant(null),
      endpointVersion: fc.constant(null),
    }),
    retryPolicy,
    claim: fc.record({
      node: plainText,
      attemptId: plainText.map((text) => text as AttemptId),
      dueAt: anyInstant,
      firedAt: anyInstant,
    }),
    finalizedAt: fc.option(anyInstant),
  })
  .map((changes) => ({ ...changes, claim: changes.status === 'claimed' ? changes.claim : null }));

const tookMs = fc.nat({ max: 1_000_000_000 });

export const attemptTiming: fc.Arbitrary<AttemptTiming> = fc.record({
  claimedMs: tookMs,
  connectedMs: fc.option(tookMs),
  firstByteMs: fc.option(tookMs),
  wasConnected: fc.boolean(),
});

export const profileContents: fc.Arbitrary<
  Pick<
    EndpointProfile,
    | 'url'
    | 'method'
    | 'headerNames'
    | 'timeout'
    | 'retryPolicy'
    | 'retryBudget'
    | 'rateLimit'
    | 'breakerPolicy'
    | 'notify'
    | 'standardWebhooks'
    | 'metadata'
  >
> = fc.record({
  url,
  method: fc.constantFrom(...METHODS),
  headerNames: fc.array(anyText, { maxLength: 5 }),
  timeout: fc.option(durationText),
  retryPolicy,
  retryBudget: fc.option(fc.record({ rate, burst: rate })),
  rateLimit: fc.option(fc.record({ perSecond: rate })),
  breakerPolicy: fc.option(
    fc.record({
      threshold: count,
      baseOpen: durationText,
      maxOpen: durationText,
      probeTimeout: durationText,
    }),
  ),
  notify: fc.option(anyNotify),
  standardWebhooks: fc.boolean(),
  metadata: labels,
});

const bucket = fc.record({
  terms: fc.record({ rate, burst: rate }),
  tokens: fc.double({ min: -1e6, max: 1e9, noNaN: true }).map((value) => value + 0),
  at: anyInstant,
});

export const gate: fc.Arbitrary<Gate> = fc.record({
  breaker: fc.record({
    failures: count,
    openUntil: fc.option(anyInstant),
    windowMs: count,
    probeUntil: fc.option(anyInstant),
  }),
  budget: fc.option(bucket),
  rateLimiters: fc.dictionary(
    fc.constantFrom('1', '0.5', '1e-7'),
    fc.record({
      freeAt: fc.double({ min: 0, max: 1e15, noNaN: true }).map((value) => value + 0),
      at: anyInstant,
    }),
  ),
});

export const receiptContents: fc.Arbitrary<Pick<Receipt, 'fingerprint' | 'status' | 'body'>> = fc.record({
  fingerprint: fc.string({ minLength: 64, maxLength: 64 }),
  status: fc.integer({ min: 200, max: 299 }),
  body: fc.oneof(plainText, fc.json()),
});

/** Sealed values are arbitrary bytes. */
export const bytes: fc.Arbitrary<Uint8Array> = fc.uint8Array({ minLength: 1, maxLength: 300 });
