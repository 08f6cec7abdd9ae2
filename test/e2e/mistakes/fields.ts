/** Mistakes in the other fields of a schedule, and in endpoint profiles. */
import { planted } from '#test/e2e/client.ts';
import { ONE_SHOT, PROFILE, UNKNOWN, URL } from '#test/e2e/resources.ts';
import type { Mistakes } from './mistakes.ts';

const OPERATOR = 'with SCHED_EGRESS_ALLOW and SCHED_EGRESS_ALLOW_HTTP.';
const ABSOLUTE = 'endpoint must be an absolute https:// URL such as "https://example.com/hook".';
const OTHER_MODE = 'A test key sees no live data, and a live key no test data.';
const NOTIFY = '{"endpoint_id": "ep_…", "on": ["dead_letter", "expired"]}';
const FORM_OF_ID = '26 lower-case letters and digits. Copy it unchanged.';

export const FIELD_MISTAKES: readonly Mistakes[] = [
  {
    on: ONE_SHOT,
    expected: '422 url_blocked endpoint',
    mistakes: [
      [
        { endpoint: 'http://10.0.0.5/hook' },
        `endpoint uses http:// ("http://10.0.0.5"), but only https:// is allowed, and this address is not public. The operator can allow both ${OPERATOR}`,
      ],
      [
        { endpoint: 'http://localhost:3000/hook' },
        `endpoint uses http:// ("http://localhost:3000"), but only https:// is allowed. To send to your own machine, use "sched dev". In the service, the operator can allow the address 127.0.0.1 ${OPERATOR}`,
      ],
      [
        { endpoint: 'http://example.com/hook?token=secret' },
        'endpoint uses http:// ("http://example.com"), but only https:// is allowed. Write "https://example.com".',
        { endpoint: 'https://example.com' },
      ],
      [
        { endpoint: 'example.com/hook' },
        `${ABSOLUTE} It has no scheme: begin with "https://example.com".`,
        { endpoint: 'https://example.com' },
      ],
      [
        { endpoint: 'https://user:hunter2@example.com/' },
        'endpoint has a user name or password before the host. Leave them out, and send them in headers, such as Authorization.',
      ],
      [
        { endpoint: 'ftp://example.com/' },
        `${ABSOLUTE} It has the scheme "ftp".`,
        { endpoint: 'https://example.com/hook' },
      ],
    ],
  },
  {
    on: ONE_SHOT,
    expected: '400 multiple_endpoint endpoint_id',
    mistakes: [
      [
        { endpoint_id: UNKNOWN.endpoint },
        'endpoint and endpoint_id were given. Give endpoint for a URL, or endpoint_id for an endpoint profile.',
      ],
    ],
  },
  {
    on: ONE_SHOT,
    expected: '422 missing_endpoint endpoint',
    mistakes: [
      [
        { endpoint: undefined },
        'No destination was given. Give endpoint, such as "https://example.com/hook", or endpoint_id.',
        { endpoint: 'https://example.com/hook' },
      ],
      [
        { endpoint: undefined, url: URL },
        'No destination was given. A schedule has its URL in endpoint, not in url.',
        { endpoint: URL },
      ],
    ],
  },
  {
    on: ONE_SHOT,
    expected: '422 invalid_endpoint endpoint_id',
    mistakes: [
      [
        { endpoint: undefined, endpoint_id: UNKNOWN.endpoint },
        `No endpoint profile has this id in this project and mode. ${OTHER_MODE}`,
      ],
      [
        { endpoint: undefined, endpoint_id: UNKNOWN.schedule },
        `endpoint_id "${UNKNOWN.schedule}" names another kind of object (schedule). The id of every endpoint profile begins with ep_.`,
      ],
      [
        { endpoint: undefined, endpoint_id: 'billing' },
        `endpoint_id is not of the right form: the id of every endpoint profile is ep_ and ${FORM_OF_ID}`,
      ],
    ],
  },
  {
    on: ONE_SHOT,
    expected: '400 invalid_method method',
    mistakes: [
      [
        { method: 'post' },
        'method must be POST, PUT, PATCH, GET or DELETE, not "post". Write "POST".',
        { method: 'POST' },
      ],
      [
        { method: 'HEAD' },
        'method must be POST, PUT, PATCH, GET or DELETE, not "HEAD". Leave it out for POST.',
      ],
    ],
  },
  {
    on: ONE_SHOT,
    expected: '400 invalid_request body',
    mistakes: [
      [
        { body: { hello: planted('body') } },
        'body must be a string, not an object. Send JSON as text, as JSON.stringify writes it: "{\\"hello\\":\\"world\\"}".',
        { body: '{"hello":"world"}' },
      ],
      [{ body: 5 }, 'body must be a string, not a number. Write it in quotes.', { body: '5' }],
    ],
  },
  {
    on: ONE_SHOT,
    expected: '413 payload_too_large body',
    mistakes: [
      [
        { body: 'x'.repeat(262_145) },
        'body has 262,145 characters. At most 262,144 are allowed. Send a reference, and let the receiver fetch the data.',
      ],
    ],
  },
  {
    on: ONE_SHOT,
    expected: '400 invalid_request headers',
    mistakes: [
      [
        { headers: { 'X-Count': 42 } },
        'headers.X-Count must be a string, not a number. Write it in quotes.',
        { headers: { 'X-Count': '42' } },
      ],
      [
        { headers: ['X-A: b'] },
        'headers must be an object of strings such as {"X-Tenant": "acme"}, not an array.',
        { headers: { 'X-Tenant': 'acme' } },
      ],
    ],
  },
  {
    on: ONE_SHOT,
    expected: '413 payload_too_large headers',
    mistakes: [
      [
        { headers: { 'X-Long': 'x'.repeat(16_384) } },
        'headers has 16,390 bytes of names and values. At most 16,384 are allowed.',
      ],
    ],
  },
  {
    on: ONE_SHOT,
    expected: '400 invalid_request metadata',
    mistakes: [
      [
        { metadata: { count: 42 } },
        'metadata.count must be a string, not a number. Write "42".',
        { metadata: { count: '42' } },
      ],
      [{ metadata: { 'a b': null } }, 'metadata["a b"] must be a string, not null. Leave it out.'],
      [
        { metadata: { user: { id: 1 } } },
        'metadata.user must be a string, not an object. Give its text, such as the result of JSON.stringify.',
      ],
      [
        { metadata: { a: '\0' } },
        'metadata.a has a character that cannot be stored: NUL, or half of a surrogate pair. Leave it out.',
      ],
    ],
  },
  {
    on: ONE_SHOT,
    expected: '422 too_many_labels metadata',
    mistakes: [
      [
        { metadata: Object.fromEntries(Array.from({ length: 51 }, (_, i) => [`l${i}`, 'x'])) },
        'metadata has 51 labels. At most 50 are allowed.',
      ],
    ],
  },
  {
    on: ONE_SHOT,
    expected: '400 invalid_request idempotency_key',
    mistakes: [
      [
        { idempotency_key: 'x'.repeat(256) },
        'idempotency_key has 256 characters. It must have 1 to 255 visible ASCII characters, such as "invoice-4711".',
        { idempotency_key: 'invoice-4711' },
      ],
    ],
  },
  {
    on: ONE_SHOT,
    expected: '422 invalid_retry_policy retry_policy',
    mistakes: [
      [
        { retry_policy: { max_attempts: 100 } },
        'retry_policy.max_attempts must be a whole number from 1 to 50, such as 8, not 100.',
        { retry_policy: { max_attempts: 8 } },
      ],
      [
        { retry_policy: { max_attempts: '5' } },
        'retry_policy.max_attempts must be a whole number from 1 to 50, such as 8, not the string "5". Write 5 without quotes.',
        { retry_policy: { max_attempts: 5 } },
      ],
      [
        { retry_policy: { max_attempts: 2.5 } },
        'retry_policy.max_attempts must be a whole number from 1 to 50, such as 8, not 2.5.',
      ],
      [
        { retry_policy: { base: '2d' } },
        'retry_policy.base "2d" is not a duration: days are not a unit. Use h, m, s and ms, such as "5s".',
        { retry_policy: { base: '5s' } },
      ],
      [
        { retry_policy: { base: '48h' } },
        'retry_policy.base "48h" is out of bounds: it must be at least 0 and at most 24h, such as "5s".',
      ],
      [
        { retry_policy: { factor: 0.5 } },
        'retry_policy.factor must be a number from 1 to 100, such as 2, not 0.5.',
        { retry_policy: { factor: 2 } },
      ],
      [
        { retry_policy: { strategy: 'linear' } },
        'retry_policy.strategy must be "exponential", not "linear". No other strategy exists.',
        { retry_policy: { strategy: 'exponential' } },
      ],
      [
        { retry_policy: { jitter: 'yes' } },
        'retry_policy.jitter must be true or false, not "yes".',
        { retry_policy: { jitter: true } },
      ],
      [
        { retry_policy: 5 },
        'retry_policy must be an object such as {"max_attempts": 8, "base": "5s"}, not the number 5.',
        { retry_policy: { max_attempts: 8, base: '5s' } },
      ],
    ],
  },
  {
    on: ONE_SHOT,
    expected: '422 invalid_rate_limit rate_limit',
    mistakes: [
      [
        { rate_limit: 5 },
        'rate_limit must be an object such as {"per_second": 5}, not the number 5.',
        { rate_limit: { per_second: 5 } },
      ],
      [
        { rate_limit: {} },
        'rate_limit.per_second is missing. Give rate_limit as {"per_second": 5}.',
        { rate_limit: { per_second: 5 } },
      ],
    ],
  },
  {
    on: ONE_SHOT,
    expected: '422 invalid_notify notify',
    mistakes: [
      [
        { notify: UNKNOWN.endpoint },
        `notify must be an object such as ${NOTIFY}, not "${UNKNOWN.endpoint}".`,
        { notify: { on: [] } },
      ],
      [
        { notify: { on: ['expired'] } },
        'notify.endpoint_id is missing. Give the id of the endpoint profile that is told, or "on": [] to tell nobody.',
      ],
      [
        { notify: { endpoint_id: UNKNOWN.endpoint, on: ['failed'] } },
        'notify.on must be a list of succeeded, dead_letter and expired, and its member 1 is "failed".',
      ],
    ],
  },
];

export const PROFILE_MISTAKES: readonly Mistakes[] = [
  {
    on: PROFILE,
    expected: '422 missing_url url',
    mistakes: [
      [
        { url: undefined },
        'An endpoint profile needs a url, such as "https://example.com/hook".',
        { url: 'https://example.com/hook' },
      ],
      [
        { url: undefined, endpoint: URL },
        'An endpoint profile needs a url. It has its URL in url, not in endpoint.',
        { url: URL },
      ],
    ],
  },
  {
    on: PROFILE,
    expected: '422 invalid_timeout timeout',
    mistakes: [
      [
        { timeout: 30 },
        'timeout must be a string with a unit, not the number 30. Write "30s".',
        { timeout: '30s' },
      ],
      [
        { timeout: '2h' },
        'timeout "2h" is out of bounds: it must be above 0 and at most 1h, such as "10s".',
        { timeout: '10s' },
      ],
    ],
  },
  {
    on: PROFILE,
    expected: '422 invalid_retry_budget retry_budget',
    mistakes: [
      [
        { retry_budget: { rate: -1, burst: 10 } },
        'retry_budget.rate must be a number of at least 0, such as 10, not -1.',
        { retry_budget: { rate: 10, burst: 10 } },
      ],
    ],
  },
  {
    on: PROFILE,
    expected: '422 invalid_rate_limit rate_limit',
    mistakes: [
      [
        { rate_limit: { per_second: '5' } },
        'rate_limit.per_second must be a number of at least 0, such as 5, not the string "5". Write 5 without quotes.',
        { rate_limit: { per_second: 5 } },
      ],
    ],
  },
  {
    on: PROFILE,
    expected: '422 invalid_notify notify',
    mistakes: [
      [
        { notify: { endpoint_id: UNKNOWN.endpoint } },
        'notify.on is missing. Give a list of outcomes, such as ["dead_letter", "expired"].',
      ],
      [
        { notify: { endpoint_id: UNKNOWN.endpoint, on: ['deadletter'] } },
        'notify.on must be a list of succeeded, dead_letter and expired, and its member 1 is "deadletter". Write "dead_letter".',
      ],
      [
        { notify: { endpoint_id: UNKNOWN.endpoint, on: ['expired', 'expired'] } },
        'notify.on names expired twice. Give each outcome once.',
      ],
    ],
  },
  {
    on: PROFILE,
    expected: '400 invalid_request standard_webhooks',
    mistakes: [
      [
        { standard_webhooks: 'yes' },
        'standard_webhooks must be true or false, not "yes".',
        { standard_webhooks: true },
      ],
    ],
  },
  {
    on: PROFILE,
    expected: '422 invalid_breaker_policy breaker_policy',
    mistakes: [
      [
        { breaker_policy: { threshold: 5 } },
        'breaker_policy.base_open is missing. Give breaker_policy as {"threshold": 5, "base_open": "30s", "max_open": "1h", "probe_timeout": "30s"}.',
        { breaker_policy: { threshold: 5, base_open: '30s', max_open: '1h', probe_timeout: '30s' } },
      ],
      [
        { breaker_policy: { threshold: 0, base_open: '30s', max_open: '1h', probe_timeout: '30s' } },
        'breaker_policy.threshold must be a whole number from 1 to 1000, such as 5, not 0.',
      ],
    ],
  },
];
