import { expect, test } from 'vitest';
import { createBody, endpointBody, readMetadata, rescheduleBody, updateBody } from './bodies.ts';

test('each flag sets its field', async () => {
  expect(
    await createBody({
      endpoint: 'https://example.com/',
      method: 'PUT',
      header: ['X-A: b: c', 'X-Empty:'],
      body: '{"a":1}',
      local: '2027-01-01T09:00:00',
      tz: 'Europe/Berlin',
      ttl: '1h',
      jitter: '5s',
      idempotencyKey: 'key',
      metadata: ['team=billing', 'query=a=b'],
      maxAttempts: '3',
      retryBase: '1s',
      retryFactor: '1.5',
      retryMax: '1m',
      rateLimit: '0.5',
      notify: 'ep_1',
      notifyOn: 'dead_letter, expired',
    }),
  ).toEqual({
    endpoint: 'https://example.com/',
    method: 'PUT',
    headers: { 'X-A': 'b: c', 'X-Empty': '' },
    body: '{"a":1}',
    local_fire_at: '2027-01-01T09:00:00',
    timezone: 'Europe/Berlin',
    ttl: '1h',
    jitter: '5s',
    idempotency_key: 'key',
    metadata: { team: 'billing', query: 'a=b' },
    retry_policy: { max_attempts: 3, base: '1s', factor: 1.5, max: '1m' },
    rate_limit: { per_second: 0.5 },
    notify: { endpoint_id: 'ep_1', on: ['dead_letter', 'expired'] },
  });
});

test('none of the outcomes tells nobody, and --data may have the other part', async () => {
  expect(await updateBody({ notifyOn: 'none' })).toEqual({ notify: { on: [] } });
  const data = '{"notify":{"endpoint_id":"ep_1","on":["expired"]}}';
  expect(await endpointBody({ data, notifyOn: 'succeeded' })).toEqual({
    notify: { endpoint_id: 'ep_1', on: ['succeeded'] },
  });
  expect(await createBody({ data: '{"notify":null}', notify: 'ep_2' })).toEqual({
    notify: { endpoint_id: 'ep_2' },
  });
});

test('a field without a flag is left out', async () => {
  for (const body of [createBody, updateBody, rescheduleBody, endpointBody])
    expect(await body({})).toEqual({});
});

test('--data is the whole body, and a flag sets its field in it', async () => {
  const data = '{"endpoint":"https://a.example/","delay":"1h","unknown":true}';
  expect(await createBody({ data, delay: '5m' })).toEqual({
    endpoint: 'https://a.example/',
    delay: '5m',
    unknown: true,
  });
  expect(await updateBody({ data: '{"ttl":null}' })).toEqual({ ttl: null });
});

test('a flag sets only its member of a field that is an object', async () => {
  const data = {
    headers: { 'X-A': 'a', 'x-b': 'b' },
    metadata: { team: 'billing' },
    retry_policy: { max_attempts: 3, base: '1s' },
    retry_budget: { rate: 1, burst: 10 },
    breaker_policy: { threshold: 5, base_open: '30s' },
    rate_limit: null,
  };
  const flags = {
    header: ['X-B: c', 'X-C: d'],
    metadata: ['order=4711'],
    retryBase: '2s',
    retryBudgetRate: '2',
    breakerThreshold: '6',
    rateLimit: '1',
  };
  expect(await endpointBody({ ...flags, data: JSON.stringify(data) })).toEqual({
    headers: { 'X-A': 'a', 'X-B': 'c', 'X-C': 'd' },
    metadata: { team: 'billing', order: '4711' },
    retry_policy: { max_attempts: 3, base: '2s' },
    retry_budget: { rate: 2, burst: 10 },
    breaker_policy: { threshold: 6, base_open: '30s' },
    rate_limit: { per_second: 1 },
  });
  expect(await updateBody({ maxAttempts: '2', data: '{"retry_policy":null,"headers":7}' })).toEqual({
    retry_policy: { max_attempts: 2 },
    headers: 7,
  });
});

test('the last of two headers whose names differ only in case counts', async () => {
  expect(await createBody({ header: ['X-A: 1', 'x-a: 2'] })).toEqual({ headers: { 'x-a': '2' } });
});

test('an endpoint profile begins and ends to be signed for Standard Webhooks', async () => {
  expect(await endpointBody({ standardWebhooks: 'true' })).toEqual({ standard_webhooks: true });
  expect(await endpointBody({ standardWebhooks: 'false', data: '{"standard_webhooks":true}' })).toEqual({
    standard_webhooks: false,
  });
});

test('an endpoint profile takes a url, a retry budget and a breaker policy', async () => {
  expect(
    await endpointBody({
      endpoint: 'https://example.com/',
      timeout: '5s',
      retryBudgetRate: '1',
      retryBudgetBurst: '10',
      breakerThreshold: '5',
      breakerBaseOpen: '30s',
    }),
  ).toEqual({
    url: 'https://example.com/',
    timeout: '5s',
    retry_budget: { rate: 1, burst: 10 },
    breaker_policy: { threshold: 5, base_open: '30s' },
  });
});

test.each([
  [{ header: ['no colon'] }, '--header must have the form'],
  [{ header: [': no name'] }, '--header must have the form'],
  [
    { metadata: ['no-value'] },
    '--metadata must have the form key=value, such as team=billing, not "no-value".',
  ],
  [{ maxAttempts: 'many' }, '--max-attempts must be a number such as 5, not "many".'],
  [{ rateLimit: '' }, '--rate-limit must be a number such as 5, not "".'],
  [{ data: '{' }, '--data is not valid JSON at line 1, column 2: it ends too early'],
  [{ data: '[1]' }, '--data must be a JSON object'],
  [{ data: '-', body: '-' }, 'cannot both read standard input'],
  [{ body: '@/nowhere/file' }, '--body: The file /nowhere/file does not exist.'],
])('%j is wrong usage', async (options, why) => {
  await expect(createBody(options)).rejects.toThrow(why);
});

test('a label may have the name of an inherited property', () => {
  expect(Object.entries(readMetadata({ metadata: ['__proto__=a', 'b='] }) ?? {})).toEqual([
    ['__proto__', 'a'],
    ['b', ''],
  ]);
});
