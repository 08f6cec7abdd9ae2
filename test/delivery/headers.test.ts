/** The headers of a delivery: the customer's, then the service's own, and those that may not be sent. */
import { describe, expect, it } from 'vitest';
import { planted } from '#test/e2e/client.ts';
import { createdProfile, delivery, ms, schedule } from '#test/e2e/expectations.ts';
import type { Schedule } from '#test/e2e/resources.ts';
import { storedBytes } from '#test/process/stored.ts';
import { answer } from '#test/receiver/behaviours.ts';
import { headerOf, type ReceivedRequest, valuesOf } from '#test/receiver/receiver.ts';
import { useDeliveries } from './harness.ts';
import { waitForEnd } from './waits.ts';

const { api, live, hook, given, sched } = useDeliveries();

const OWN = [
  'Sched-Delivery-Id',
  'Sched-Attempt',
  'Sched-Occurrence',
  'Idempotency-Key',
  'Sched-Timestamp',
  'Sched-Signature',
];

function namesOf({ headers }: ReceivedRequest): readonly string[] {
  return headers.map(([name]) => name.toLowerCase());
}

describe.concurrent('the service’s own headers', () => {
  it('are all sent once, and besides them only what HTTP needs', async () => {
    const target = hook();
    await given({ endpoint: target.url, body: '{}' });
    const request = await target.arrived();
    const transport = ['host', 'connection', 'content-length', 'content-type', 'user-agent'];
    const own = [...OWN.map((name) => name.toLowerCase()), 'traceparent'];
    expect(
      namesOf(request)
        .filter((name) => name !== 'connection')
        .toSorted(),
    ).toEqual([...transport.filter((name) => name !== 'connection'), ...own].toSorted());
    expect(headerOf(request, 'User-Agent')).toBe('Sched/1');
    expect(headerOf(request, 'Host')).toBe(new URL(target.url).host);
    expect(headerOf(request, 'Content-Length')).toBe('2');
  });

  it('Sched-Request-Id is not sent', async () => {
    const target = hook();
    await given({ endpoint: target.url });
    expect(valuesOf(await target.arrived(), 'Sched-Request-Id')).toEqual([]);
  });

  it('cannot be overridden in any letter case', async () => {
    const target = hook();
    const chosen = planted('chosen');
    const headers = {
      'Sched-Delivery-Id': chosen,
      'sched-attempt': '7',
      'SCHED-occurrence': '2001-01-01T00:00:00.000Z',
      'IDEMPOTENCY-KEY': chosen,
      'sChEd-TiMeStAmP': '1',
      'Sched-Signature': `t=1,v1=${'0'.repeat(64)}`,
      traceparent: `00-${'1'.repeat(32)}-${'2'.repeat(16)}-01`,
      tracestate: chosen,
      baggage: 'kept=yes',
    };
    const { pending } = await given({ endpoint: target.url, headers });
    const request = await target.arrived();
    expect(headerOf(request, 'Sched-Delivery-Id')).toBe(pending.id);
    expect(headerOf(request, 'Sched-Attempt')).toBe('1');
    expect(headerOf(request, 'Sched-Occurrence')).toBe(pending.occurrence);
    expect(headerOf(request, 'Idempotency-Key')).toBe(pending.idempotency_key);
    expect(Number(headerOf(request, 'Sched-Timestamp'))).toBeGreaterThan(1);
    expect(headerOf(request, 'Sched-Signature')).not.toContain('0'.repeat(64));
    expect(headerOf(request, 'traceparent')).not.toBe(headers.traceparent);
    expect(valuesOf(request, 'tracestate')).toEqual([]);
    expect(headerOf(request, 'baggage')).toBe('kept=yes');
  });

  it('come after the customer’s headers', async () => {
    const target = hook();
    await given({ endpoint: target.url, headers: { 'X-First': planted('1'), 'X-Second': planted('2') } });
    const names = namesOf(await target.arrived());
    const lastCustom = Math.max(names.indexOf('x-first'), names.indexOf('x-second'));
    for (const name of OWN) expect(names.indexOf(name.toLowerCase())).toBeGreaterThan(lastCustom);
  });
});

describe.concurrent('custom headers', () => {
  it.each([
    ['Authorization', planted('Bearer abc.def==')],
    ['Content-Type', 'text/x-pLaNtEd; charset=utf-8'],
    ['Accept', 'application/pLaNtEd'],
    ['X-Empty', ''],
    ['x-lower-CASE', planted('kept')],
    ['X-Latin-1', planted('Grüße ÿ £')],
    ["!#$%&'*+-.^_`|~09", planted('every character of a token')],
    ['X-Inner', planted('a  b ; "c" , d')],
    ['Cookie', planted('a=b; c=d')],
    ['Expectations', planted('not Expect')],
    ['Teapot', planted('not TE')],
    ['Hosts', planted('not Host')],
    ['Proxied', planted('not Proxy-')],
    ['X-Long', planted('x').padEnd(15_000, 'x')],
  ])('%s is sent as it was given', async (name, value) => {
    const target = hook();
    const { shown } = await given({ endpoint: target.url, headers: { [name]: value }, body: '{}' });
    expect(shown.header_keys).toEqual([name]);
    const request = await target.arrived();
    expect(request.headers.filter(([each]) => each.toLowerCase() === name.toLowerCase())).toEqual([
      [name, value],
    ]);
  });

  it('with escaped names arrive, independent of other customers’ names', async () => {
    const target = hook();
    const create = (name: string, delay: string) =>
      `{"endpoint":"${target.url}","delay":"${delay}","headers":{"X-Order":"1","${name}":"2"}}`;
    const theirs = await live.send<Schedule>('POST', '/v1/schedules', { raw: create('X-\\\\', '1h') });
    await live.post(`/v1/schedules/${theirs.json.id}/cancel`);
    await api.send('POST', '/v1/schedules', { raw: create('X-\\u0041', '1s') });
    expect(headerOf(await target.arrived(), 'X-A')).toBe('2');
  });

  it('keep their order and are the same at every attempt', async () => {
    const target = hook(answer(500), answer(200));
    const headers = { 'X-C': planted('3'), 'X-A': planted('1'), 'X-B': planted('2') };
    await given({ endpoint: target.url, headers, retry_policy: { base: '50ms' } });
    for (const request of [await target.arrived(1), await target.arrived(2)]) {
      expect(request.headers.filter(([name]) => name.startsWith('X-'))).toEqual(Object.entries(headers));
    }
  });

  it('a request with a customer’s User-Agent has only one User-Agent', async () => {
    const target = hook();
    await given({ endpoint: target.url, headers: { 'user-agent': planted('mine') } });
    expect(valuesOf(await target.arrived(), 'User-Agent')).toHaveLength(1);
  });
});

/** The forbidden names and values, each as one header. */
const RESERVED = 'forbidden header {}: it belongs to the connection';
const BAD_NAME = 'header {} cannot be sent: its name is not valid in HTTP';
const badValue = (what: string) => `header {} cannot be sent: its value has ${what}`;

const FORBIDDEN: readonly (readonly [what: string, name: string, value: string, why: string])[] = [
  ...[
    'host',
    'content-length',
    'connection',
    'keep-alive',
    'te',
    'trailer',
    'transfer-encoding',
    'upgrade',
    'proxy-authorization',
    'proxy-connection',
    'proxy-',
  ].flatMap((name) => [
    [`the name ${name}`, name, planted('v'), RESERVED] as const,
    [`the name ${name.toUpperCase()}`, name.toUpperCase(), planted('v'), RESERVED] as const,
  ]),
  ['a name with CR', 'X-A\rB', planted('v'), BAD_NAME],
  ['a name with LF', 'X-A\nB', planted('v'), BAD_NAME],
  ['a name with NUL', 'X-A\0B', planted('v'), BAD_NAME],
  ['a name with a tab', 'X-A\tB', planted('v'), BAD_NAME],
  ['a name with a space', 'X A', planted('v'), BAD_NAME],
  ['a name with a colon', 'X:A', planted('v'), BAD_NAME],
  ['a name beyond ASCII', 'X-Größe', planted('v'), BAD_NAME],
  ['an empty name', '', planted('v'), BAD_NAME],
  ['a value with CR', 'X-A', planted('a\rb'), badValue('a line break')],
  ['a value with LF', 'X-A', planted('a\nb'), badValue('a line break')],
  ['a value that would be two headers', 'X-A', planted('a\r\nX-Injected: 1'), badValue('a line break')],
  ['a value with NUL', 'X-A', planted('a\0b'), badValue('a control character')],
  ['a value with a tab', 'X-A', planted('a\tb'), badValue('a control character')],
  ['a value with an escape', 'X-A', planted('a\u001bb'), badValue('a control character')],
  ['a value with DEL', 'X-A', planted('a\u007fb'), badValue('a control character')],
  ['a value outside Latin-1', 'X-A', planted('5 €'), badValue('a character outside Latin-1')],
  ['a value with an emoji', 'X-A', planted('\u{1f4e8}'), badValue('a character outside Latin-1')],
];

describe.concurrent('a delivery with a forbidden header is accepted with 201 and becomes a dead letter, and no byte is sent', () => {
  it.each(FORBIDDEN)('%s', async (_what, name, value, why) => {
    const target = hook();
    const headers = { 'X-Fine': planted('fine'), [name]: value };
    const { id, pending } = await given({ endpoint: target.url, headers, retry_policy: { base: '50ms' } });
    const { delivery, attempts } = await waitForEnd(api, pending.id);
    expect(delivery).toMatchObject({ status: 'dead_letter', attempt_count: 1, last_status_code: null });
    const error = why.replace('{}', () => JSON.stringify(name));
    expect(attempts).toMatchObject([{ attempt_no: 1, outcome: 'terminal', status_code: null, error }]);
    expect(ms(attempts[0]?.finished_at)).toBeGreaterThanOrEqual(ms(attempts[0]?.fired_at));
    expect(delivery.error).toBe(attempts[0]?.error);
    expect((await schedule(api, id)).state).toBe('completed');
    expect(target.requests).toEqual([]);
  });

  it('also with a forbidden header of a profile', async () => {
    const target = hook();
    const profile = await createdProfile(api, { url: target.url, headers: { Upgrade: planted('h2c') } });
    const { pending } = await given({ endpoint_id: profile.id });
    expect((await waitForEnd(api, pending.id)).delivery.status).toBe('dead_letter');
    expect(target.requests).toEqual([]);
  });

  it('a forbidden profile header that the schedule replaces does no harm', async () => {
    const target = hook();
    const profile = await createdProfile(api, { url: target.url, headers: { 'X-A': planted('a\nb') } });
    const { pending } = await given({ endpoint_id: profile.id, headers: { 'x-a': planted('fine') } });
    expect((await waitForEnd(api, pending.id)).delivery.status).toBe('succeeded');
    expect(headerOf(await target.arrived(), 'X-A')).toBe(planted('fine'));
  });
});

describe.concurrent('profile headers and schedule headers merge', () => {
  it('the schedule’s headers win in any letter case, and the others stay', async () => {
    const target = hook();
    const profile = await createdProfile(api, {
      url: target.url,
      headers: {
        'X-Both': planted('profile'),
        'X-EndpointProfile': planted('profile'),
        'Idempotency-Key': planted('no'),
      },
    });
    const headers = { 'x-both': planted('schedule'), 'X-Schedule': planted('schedule') };
    const { pending } = await given({ endpoint_id: profile.id, headers });
    const request = await target.arrived();
    expect(headerOf(request, 'X-Both')).toBe(planted('schedule'));
    expect(headerOf(request, 'X-EndpointProfile')).toBe(planted('profile'));
    expect(headerOf(request, 'X-Schedule')).toBe(planted('schedule'));
    expect(headerOf(request, 'Idempotency-Key')).toBe(pending.idempotency_key);
  });
});

describe.concurrent('Content-Type', () => {
  it.each([
    ['an object', '{"a":1}', ['application/json']],
    ['an array', ' [1, 2]\n', ['application/json']],
    ['a number', '17', ['application/json']],
    ['a text in quotes', '"text"', ['application/json']],
    ['null', 'null', ['application/json']],
    ['not JSON', 'a=b&c=d', []],
    ['nearly JSON', "{'a':1}", []],
    ['JSON with a text after it', '{} x', []],
    ['an empty body', '', []],
    ['no body', undefined, []],
  ])('%s', async (_what, body, expected) => {
    const target = hook();
    await given({ endpoint: target.url, body });
    expect(valuesOf(await target.arrived(), 'Content-Type')).toEqual(expected);
  });

  it.each([
    ['the schedule’s own is kept', '{"a":1}', 'application/cloudevents+json'],
    ['the schedule’s own is kept for a body that is not JSON', 'plain', 'text/plain'],
  ])('%s', async (_what, body, type) => {
    const target = hook();
    await given({ endpoint: target.url, body, headers: { 'content-TYPE': type } });
    expect(valuesOf(await target.arrived(), 'Content-Type')).toEqual([type]);
  });

  it('the profile’s Content-Type is kept', async () => {
    const target = hook();
    const { id } = await createdProfile(api, { url: target.url, headers: { 'Content-Type': 'text/csv' } });
    await given({ endpoint_id: id, body: '1' });
    expect(valuesOf(await target.arrived(), 'Content-Type')).toEqual(['text/csv']);
  });
});

describe.concurrent('traceparent', () => {
  const parts = (request: ReceivedRequest) => headerOf(request, 'traceparent').split('-');

  it('a delivery has one trace, and each attempt one span', async () => {
    const target = hook(answer(500), answer(500), answer(200));
    const other = hook();
    await given({ endpoint: target.url, retry_policy: { base: '30ms', factor: 1 } });
    await given({ endpoint: other.url });
    await target.arrived(3);
    const [, trace] = parts(await other.arrived());
    const attempts = target.requests.map(parts);
    expect(attempts.map(([version]) => version)).toEqual(['00', '00', '00']);
    expect(new Set(attempts.map(([, trace]) => trace)).size).toBe(1);
    expect(attempts[0]?.[1]).not.toBe(trace);
    expect(new Set(attempts.map(([, , span]) => span)).size).toBe(3);
  });
});

describe.concurrent('what is encrypted at rest', () => {
  it('header values and bodies do not appear in the stored files', async () => {
    const target = hook();
    const value = planted('at-rest-header');
    const { pending } = await given({
      endpoint: target.url,
      headers: { 'X-A': value },
      body: planted('at-rest-body'),
    });
    await target.arrived();
    await waitForEnd(api, pending.id);
    expect((await delivery(api, pending.id)).status).toBe('succeeded');
    const stored = await storedBytes(sched().dataDir);
    expect(stored.includes(pending.id)).toBe(true);
    expect(stored.includes('at-rest-')).toBe(false);
  });
});
