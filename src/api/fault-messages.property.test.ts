/** No message repeats a secret or much of a value, or has unprintable characters, for any request. */
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Refusal } from '#src/domain/errors.ts';
import { instant } from '#src/domain/instant.ts';
import { missingKeyText, unknownKeyText } from '#src/texts/api-key-fault-text.ts';
import { wrongIdText } from '#src/texts/id-fault-text.ts';
import { readBody } from './call.ts';
import { readChoice, readInstant } from './query.ts';
import { type JsonObject, readEndpointCreate, readReschedule, readScheduleCreate } from './read-bodies.ts';
import { unknownPathText } from './unknown-path.ts';

const NOW = instant(Date.UTC(2026, 10, 15, 8));
const REPEATED_MAX = 100;
const MESSAGE_CHARACTERS_MAX = 500;

/** Only secrets have this mark, so a message with it is a leak. */
const MARK = 'q7';
const secret = fc.integer({ min: 1, max: 15 }).map((times) => MARK.repeat(times));
const SECRET_NUMBER = 7_171_717;
const SECRET = new RegExp(`${MARK}|${SECRET_NUMBER}`);

const hostile = fc
  .oneof(
    fc.string({ unit: 'binary', maxLength: 150 }),
    fc.string({ unit: 'grapheme', maxLength: 20 }),
    fc.string({
      unit: fc.constantFrom('a', '\ud800', '\udfff', '\u202e', '\n', '\0', '"', '\\', '😀'),
      maxLength: 150,
    }),
    fc.constantFrom('a', '1d', '😀', '\ud83d', '\u202e', ' ', '"').map((part) => part.repeat(2_000)),
  )
  .map((one) => one.replaceAll(MARK, ''));
/** Texts that are nearly right, so that they reach every cause. */
const near = fc.oneof(
  fc.constantFrom('1d', '30', 'PT30S', '01:30:00', '5 minutes', '-5m', '2562048h', '@daily', '0 25 * * *'),
  fc.constantFrom('* * * * * *', '0 0 L * *', 'Europe/Berln', '+02:00', '2026-12-01', '2026-12-01 09:00'),
  fc.constantFrom('2026-02-30T00:00:00Z', '2020-01-01T00:00:00Z', '2060-01-01T00:00:00', '1767225600'),
  fc.constantFrom(
    'http://10.0.0.1',
    'http://localhost:80',
    'example.com',
    'https:/a',
    'ftp://a',
    'https://a:b',
  ),
  fc.constantFrom('post', 'sch_01jcq3v8k4zqgw5m2r7n9x0abc', 'ep_01jcq3v8k4zqgw5m2r7n9x0abc', 'exponential'),
);
const text = fc.oneof(
  hostile,
  near,
  fc.tuple(near, hostile).map(([one, other]) => one + other),
);
const value: fc.Arbitrary<unknown> = fc.oneof(
  text,
  fc.double(),
  fc.integer(),
  fc.boolean(),
  fc.constant(null),
  fc.array(text, { maxLength: 2 }),
  fc.dictionary(text, fc.oneof(text, fc.double(), fc.constant(null)), { maxKeys: 3 }),
);

const secretUrl = fc
  .tuple(
    fc.constantFrom('http://', 'https://', 'ftp://', ''),
    fc.constantFrom('b.example', 'localhost:80'),
    secret,
  )
  .chain(([scheme, host, hidden]) =>
    fc.constantFrom(
      `${scheme}a:${hidden}@${host}/`,
      `${scheme}${hidden}@${host}/`,
      `${scheme}${host}/${hidden}`,
      `${scheme}${host}?t=${hidden}`,
    ),
  );
const secretValue = fc.oneof(
  secret,
  fc.constant(SECRET_NUMBER),
  secret.map((hidden) => ({ hidden })),
  secret.map((hidden) => [hidden]),
);
const secretHeaders = fc.oneof(secretValue, fc.dictionary(fc.constantFrom('X-A', 'Host', ''), secretValue));

const policy = (...fields: readonly string[]) =>
  fc.oneof(value, fc.record(Object.fromEntries(fields.map((name) => [name, value])), { requiredKeys: [] }));

const body = fc.record(
  {
    endpoint: fc.oneof(value, secretUrl, fc.constant('https://a.example')),
    url: fc.oneof(value, secretUrl, fc.constant('https://a.example')),
    endpoint_id: value,
    method: value,
    headers: secretHeaders,
    body: secretValue,
    idempotency_key: secretValue,
    delay: value,
    fire_at: value,
    local_fire_at: value,
    cron: value,
    timezone: value,
    ttl: value,
    jitter: value,
    timeout: value,
    metadata: value,
    retry_policy: policy('max_attempts', 'strategy', 'base', 'factor', 'max', 'jitter'),
    retry_budget: policy('rate', 'burst'),
    rate_limit: policy('per_second'),
    breaker_policy: policy('threshold', 'base_open', 'max_open', 'probe_timeout'),
    notify: policy('endpoint_id', 'on'),
  },
  { requiredKeys: [] },
);

function messageOf(act: () => unknown): string | null {
  try {
    act();
    return null;
  } catch (error) {
    if (error instanceof Refusal) return error.message;
    throw error;
  }
}

function expectHarmless(message: string | null, given: unknown): void {
  if (message === null) return;
  expect(message.length).toBeLessThanOrEqual(MESSAGE_CHARACTERS_MAX);
  expect(message).toMatch(/^[^\p{C}\p{Zl}\p{Zp}]+[.?]$/u);
  expect(message).not.toMatch(SECRET);
  for (const long of textsIn(given).filter(({ length }) => length > REPEATED_MAX)) {
    for (let from = 0; from + REPEATED_MAX < message.length; from++)
      expect(long).not.toContain(message.slice(from, from + REPEATED_MAX + 1));
  }
}

function textsIn(given: unknown): readonly string[] {
  if (typeof given === 'string') return [given];
  if (typeof given !== 'object' || given === null) return [];
  return [...Object.keys(given), ...Object.values(given).flatMap(textsIn)];
}

const READERS: readonly (readonly [string, (given: JsonObject) => unknown])[] = [
  ['a schedule', (given) => readScheduleCreate(given, NOW, false)],
  ['a schedule where http:// is allowed', (given) => readScheduleCreate(given, NOW, true)],
  ['a reschedule', (given) => readReschedule(given, NOW)],
  ['an endpoint profile', (given) => readEndpointCreate(given, false)],
];

describe('the message of a refused body', () => {
  test.each(READERS)('%s', (_what, read) => {
    fc.assert(
      fc.property(body, (given) =>
        expectHarmless(
          messageOf(() => read(given)),
          given,
        ),
      ),
      { numRuns: 400 },
    );
  });

  test('one wrong field at a time', () => {
    const valid = { endpoint: 'https://a.example', url: 'https://a.example', delay: '5m' };
    const one = body.chain((given) => fc.constantFrom(...Object.entries(given), ['delay', '1d'] as const));
    fc.assert(
      fc.property(one, ([name, wrong]) => {
        const given = name === 'cron' || name.endsWith('fire_at') ? { ...valid, delay: undefined } : valid;
        for (const [, read] of READERS)
          expectHarmless(
            messageOf(() => read({ ...given, [name]: wrong })),
            { [name]: wrong },
          );
      }),
      { numRuns: 400 },
    );
  });
});

describe('a value that a message offers is accepted', () => {
  const valid = { endpoint: 'https://a.example', delay: '5m' };
  const count = fc.oneof(fc.integer(), fc.nat(9_999), fc.double({ min: 0, max: 1e15, noNaN: true }));
  const date = fc.date({ min: new Date('1990-01-01'), max: new Date('2060-01-01'), noInvalidDate: true });
  const wallClock = date.map((at) => at.toISOString().slice(0, 19));
  const wrongOf: Readonly<Record<string, fc.Arbitrary<unknown>>> = {
    delay: fc.oneof(
      count,
      fc
        .tuple(count, fc.constantFrom('', 'd', 'w', ' Days', 'H', ':30', ',500s'))
        .map((parts) => parts.join('')),
    ),
    fire_at: fc.oneof(
      count,
      fc.integer({ min: 1_700_000_000, max: 2_200_000_000 }),
      fc
        .tuple(wallClock, fc.constantFrom('', '+02', ' UTC', '.5', 'Z '))
        .map(([clock, end]) => `${clock}${end}`),
      wallClock.map((clock) => clock.slice(0, 10)),
      wallClock.map((clock) => clock.replace('T', ' ')),
    ),
    local_fire_at: fc.oneof(
      wallClock.map((clock) => `${clock}Z`),
      wallClock.map((clock) => clock.slice(0, 16)),
      wallClock.map((clock) => clock.slice(0, 10)),
    ),
    cron: fc.constantFrom('@daily', '0 25 * * *', '* * * * * *', '0 0 L * *', '', '1,,2 * * * *'),
    timezone: fc.constantFrom('Europe/Berln', 'PST', '+02:00', 'berlin', '', 'IST', 'Kiev'),
    method: fc.constantFrom('post', 'HEAD', 'OPTIONS', ' Get ', ''),
    ttl: fc.oneof(
      count,
      count.map((number) => `${number}d`),
    ),
    jitter: fc.oneof(
      count,
      count.map((number) => `${number}d`),
    ),
  };

  test.each(Object.keys(wrongOf))('%s', (name) => {
    const isTiming = name === 'cron' || name.endsWith('fire_at');
    const rest = name === 'timezone' ? { ...valid, delay: undefined, cron: '0 9 * * *' } : valid;
    const read = (given: unknown) =>
      messageOf(() =>
        readScheduleCreate({ ...rest, ...(isTiming && { delay: undefined }), [name]: given }, NOW, false),
      );
    fc.assert(
      fc.property(wrongOf[name] ?? fc.constant(null), (given) => {
        const offered = /(?:Write|such as|mean|Write [^"]* or|") "([^"]*)"/g;
        for (const [, offer = ''] of (read(given) ?? '').matchAll(offered)) {
          if (offer !== given) expect(read(offer)).toBeNull();
        }
      }),
      { numRuns: 300 },
    );
  });
});

test('the message about a URL repeats nothing after its host, and no credentials', () => {
  fc.assert(
    fc.property(secretUrl, (endpoint) => {
      for (const httpAllowed of [true, false])
        expectHarmless(
          messageOf(() => readScheduleCreate({ endpoint, delay: '5m' }, NOW, httpAllowed)),
          '',
        );
    }),
  );
});

test('the message of a body that is not JSON repeats none of it', () => {
  const piece = fc.oneof(
    secret,
    fc.constantFrom('{', '}', '[', ']', ',', ':', '"', "'", '\n', ' ', '//', '1', 'null'),
  );
  const bytes = fc.oneof(
    fc.array(piece, { maxLength: 20 }).map((pieces) => Buffer.from(pieces.join(''))),
    fc.uint8Array({ maxLength: 40 }).map((array) => Buffer.from(array)),
  );
  fc.assert(
    fc.property(bytes, (raw) => {
      const read = () => readBody(raw, { required: true, acceptsPart: true }, async () => {});
      expectHarmless(messageOf(read), raw.toString());
    }),
    { numRuns: 1_000 },
  );
});

test('the messages about keys, ids, paths and queries', () => {
  fc.assert(
    fc.property(secret, text, (hidden, given) => {
      expectHarmless(missingKeyText(hidden), '');
      expectHarmless(unknownKeyText(`sk_test_${hidden}`), '');
      expectHarmless(unknownKeyText(hidden), '');
      expectHarmless(wrongIdText(hidden, 'sch', 'The id'), '');
      expectHarmless(unknownPathText('GET', `/v1/schedules/${hidden}`, `/v1/schedules/${hidden}`), '');
      expectHarmless(unknownPathText('GET', `/v1/x?key=${hidden}`, `/v1/x?key=${hidden}`), '');
      expectHarmless(unknownPathText('GET', given, given), given);
      const query = new URLSearchParams({ status: given, created_after: given });
      expectHarmless(
        messageOf(() => readChoice(query, 'status', ['active', 'paused'])),
        given,
      );
      expectHarmless(
        messageOf(() => readInstant(query, 'created_after', 'down')),
        given,
      );
    }),
    { numRuns: 400 },
  );
});
