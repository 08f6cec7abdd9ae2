/**
 * Generates schedules and endpoint profiles of every kind. Their times are short, so that much happens in a
 * run.
 */
import type { ProfileFields } from '#src/commands/profiles.ts';
import type { NewSchedule } from '#src/commands/schedules.ts';
import type { Method } from '#src/domain/destination.ts';
import type { Headers } from '#src/domain/headers.ts';
import type { EndpointId } from '#src/domain/id.ts';
import { type Instant, instant } from '#src/domain/instant.ts';
import type { RetryPolicy } from '#src/domain/retry.ts';
import type { Timing } from '#src/domain/schedule.ts';
import type { Prng } from '#test/fuzz/prng.ts';
import { bodyBytes, bodyText } from './bodies.ts';
import { labelsFor } from './contents.ts';
import { HOSTS, UNKNOWN_HOST } from './network.ts';

const CRONS: readonly (readonly [number, string])[] = [
  [1, '* * * * *'],
  [3, '*/5 * * * *'],
  [3, '*/15 * * * *'],
  [3, '0 * * * *'],
  [1, '7,37 */2 * * *'],
  [2, '30 2 * * *'],
  [1, '0 9 * * 1-5'],
];
/** Cron expressions for simulations of days, where an occurrence every few minutes would dominate. */
const RARE_CRONS: readonly (readonly [number, string])[] = [
  [2, '0 * * * *'],
  [2, '7,37 */2 * * *'],
  [3, '30 2 * * *'],
  [1, '30 1 * * 0'],
  [2, '0 9 * * 1-5'],
];
const ZONES = [
  'UTC',
  'UTC',
  'Asia/Kolkata',
  'Asia/Tokyo',
  'Europe/Berlin',
  'America/New_York',
  'Australia/Lord_Howe',
];
const METHODS: readonly Method[] = ['POST', 'POST', 'PUT', 'GET', 'DELETE'];
const DAY_MS = 86_400_000;
/** Simulations below this length last a few minutes. */
const SHORT_MS = 300_000;

/** How long before its instant a one-shot is created. */
const FAR: readonly (readonly [number, readonly [number, number]])[] = [
  [6, [1_000, 5_000]],
  [5, [5_000, 120_000]],
  [2, [120_000, 3_600_000]],
  [1, [3_600_000, DAY_MS]],
];
const NEAR: readonly (readonly [number, readonly [number, number]])[] = [
  [4, [0, 1_000]],
  [6, [1_000, 5_000]],
  [5, [5_000, 30_000]],
];

export class InputGenerator {
  readonly #prng: Prng;
  readonly #spanMs: number;

  constructor(prng: Prng, spanMs: number) {
    this.#prng = prng;
    this.#spanMs = spanMs;
  }

  get #isShort(): boolean {
    return this.#spanMs < SHORT_MS;
  }

  url(): string {
    const prng = this.#prng;
    const query = prng.chance(0.2) ? `?n=${prng.int(9)}` : '';
    return `https://${prng.pick(HOSTS)}.example/${prng.pick(['', 'hook', 'hook/two'])}${query}`;
  }

  oneShot(now: Instant): Timing {
    const prng = this.#prng;
    const [from, to] = prng.weighted(this.#isShort ? NEAR : FAR);
    const at = now + prng.between(from, to);
    // Occurrences of recurring schedules are due on the minute.
    const isOnMinute = prng.chance(this.#isShort ? 0.05 : 0.2);
    const fireAt = isOnMinute ? Math.ceil(at / 60_000) * 60_000 : at;
    return { kind: 'one_shot', fireAt: instant(fireAt), timezone: null };
  }

  recurring(): Timing {
    const prng = this.#prng;
    const crons = this.#spanMs > DAY_MS / 2 ? RARE_CRONS : CRONS;
    const cron = this.#isShort ? '* * * * *' : prng.weighted(crons);
    return { kind: 'recurring', cron, timezone: prng.pick(ZONES) };
  }

  timing(now: Instant): Timing {
    return this.#prng.chance(0.75) ? this.oneShot(now) : this.recurring();
  }

  ttl(): string | null {
    return this.#prng.weighted<string | null>([
      [8, null],
      [1, '0s'],
      [1, '1ms'],
      [1, '500ms'],
      [2, '10s'],
      [2, '2m'],
      [2, '1h'],
    ]);
  }

  /** Some quick ones allow more attempts than a notification lists. */
  retryPolicy(): RetryPolicy {
    const prng = this.#prng;
    const maxAttempts = prng.between(1, 6);
    const base = prng.pick(['0s', '200ms', '1s', '1s', '5s', '30s']);
    return {
      maxAttempts: maxAttempts === 6 && base.startsWith('0s') ? 13 : maxAttempts,
      strategy: 'exponential',
      base,
      factor: prng.pick([1, 1.5, 2, 3]),
      max: prng.pick(['1s', '10s', '1m', '1h']),
      jitter: prng.chance(0.5),
    };
  }

  /** Most of them say which call asked for them. */
  headers(label: string): Headers {
    return this.#prng.weighted<Headers>([
      [18, []],
      [10, [['X-Shop', label], ...webhookId(label)]],
      [
        3,
        [
          ['X-Shop', label],
          ['Content-Type', 'text/plain'],
        ],
      ],
      [1, [['Connection', 'close']]],
    ]);
  }

  /** The second of them is hidden by the schedule's own. */
  profileHeaders(label: string): Headers {
    return this.#prng.weighted<Headers>([
      [4, []],
      [4, [['X-Profile', label]]],
      [
        2,
        [
          ['X-Profile', label],
          ['x-shop', `profile ${label}`],
        ],
      ],
    ]);
  }

  payload(label: string): Pick<NewSchedule, 'headers' | 'body' | 'metadata'> {
    const { body, metadata } = bodyAndLabels(label, bodyBytes(this.#prng));
    return { headers: this.headers(label), body, metadata };
  }

  schedule(label: string, now: Instant, profile: EndpointId | null): NewSchedule {
    const prng = this.#prng;
    const timing = this.timing(now);
    const jitterChance = timing.kind === 'recurring' ? 0.35 : 0.15;
    return {
      name: null,
      timing,
      destination:
        profile === null
          ? { kind: 'inline', url: this.url(), method: prng.pick(METHODS) }
          : { kind: 'profile', endpointId: profile },
      headers: this.headers(label),
      jitter: prng.chance(jitterChance) ? prng.pick(['2s', '30s', '10m']) : null,
      ttl: this.ttl(),
      idempotencyKey: prng.chance(0.3) ? `key-${label}` : null,
      retryPolicy: profile !== null && prng.chance(0.4) ? null : this.retryPolicy(),
      rateLimit: prng.chance(0.2) ? { perSecond: prng.pick([0, 0.2, 1, 5]) } : null,
      notify: null,
      ...bodyAndLabels(label, bodyBytes(prng)),
    };
  }

  /** Some profiles name a host that is never found. What goes to them fails again and again, without a breaker. */
  #profileUrl(label: string): string {
    const url = this.url();
    return isOneOf(7, label) ? `https://${UNKNOWN_HOST}/` : url;
  }

  profile(label: string): ProfileFields {
    const prng = this.#prng;
    return {
      name: null,
      responseExcerpt: null,
      standardWebhooks: isOneOf(3, label),
      url: this.#profileUrl(label),
      method: prng.pick(METHODS),
      headers: this.profileHeaders(label),
      timeout: prng.pick([null, '500ms', '2s', '10s']),
      retryPolicy: this.retryPolicy(),
      retryBudget: prng.weighted([
        [3, null],
        [1, { rate: 0, burst: prng.int(4) }],
        [2, { rate: prng.pick([0.1, 0.5, 2]), burst: prng.int(4) }],
      ]),
      rateLimit: null,
      notify: null,
      breakerPolicy: prng.chance(0.3)
        ? null
        : {
            threshold: prng.between(1, 4),
            baseOpen: prng.pick(['2s', '10s', '1m']),
            maxOpen: prng.pick(['5s', '30s', '10m']),
            probeTimeout: prng.pick(['1s', '5s', '30s']),
          },
      metadata: labelsFor(label),
    };
  }

  /** The label belongs to all that is sent, so only all of it can change. */
  profileEdit(wanted: ProfileFields): Partial<ProfileFields> {
    const { url, timeout, retryPolicy, retryBudget, breakerPolicy, headers, standardWebhooks, metadata } =
      wanted;
    const sent = { headers, standardWebhooks, metadata };
    return this.#prng.pick([
      { url, retryPolicy },
      { timeout },
      { retryBudget },
      { breakerPolicy },
      sent,
      sent,
    ]);
  }
}

/** It takes nothing from the generator, so that it changes no other part of a run. */
function isOneOf(count: number, label: string): boolean {
  return Number(label.slice(1)) % count === 0;
}

/** A header that a profile with Standard Webhooks replaces. */
function webhookId(label: string): Headers {
  return isOneOf(2, label) ? [['Webhook-Id', label]] : [];
}

/** The body of a schedule, and the labels that say which call created it. */
export function bodyAndLabels(label: string, bytes: number | null): Pick<NewSchedule, 'body' | 'metadata'> {
  return { body: bytes === null ? null : bodyText(label, bytes), metadata: labelsFor(label) };
}
