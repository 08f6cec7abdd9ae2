import { createHmac, createSecretKey } from 'node:crypto';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Builders, START } from '#test/store-contract/builders.ts';
import type { Delivery } from './delivery.ts';
import type { Headers } from './headers.ts';
import type { AttemptId, DeliveryId } from './id.ts';
import { formatInstant, instant } from './instant.ts';
import {
  customerHeaders,
  outboundHeaders,
  traceId,
  traceparent,
  type UnsendableHeader,
  unsendableHeader,
} from './outbound-headers.ts';
import type { Partition } from './project.ts';

const build = new Builders(1 as Partition);
const { pending } = build.schedule({ idempotencyKey: 'order-7' });
const SECRET = 'whsec_Z3V0ZW4gVGFn';
/** An instant that is not on a whole second. */
const NOW = instant(1_794_729_600_999);

interface Given {
  readonly delivery?: Delivery;
  readonly custom?: Headers;
  readonly body?: string | null;
  readonly url?: string;
  readonly attemptNo?: number;
  readonly isJson?: boolean;
  readonly isStandard?: boolean;
}

function sentWith(given: Given): Headers {
  const {
    delivery = pending,
    custom = [],
    body = null,
    url = pending.target.url,
    attemptNo = 1,
    isJson = false,
    isStandard = false,
  } = given;
  return outboundHeaders({
    delivery,
    attempt: { id: 'att_1' as AttemptId, attemptNo },
    path: new URL(url).pathname,
    trace: traceId(pending.id),
    headers: customerHeaders(custom, isJson, isStandard),
    body: body === null ? null : Buffer.from(body),
    keys: [createSecretKey(Buffer.from(SECRET))],
    standardKeys: isStandard ? [createSecretKey(Buffer.from('guten Tag'))] : null,
    now: NOW,
  });
}

function valuesOf(headers: Headers, name: string): readonly string[] {
  return headers.filter(([own]) => own.toLowerCase() === name.toLowerCase()).map(([, value]) => value);
}

/** The names that the service sets itself, as they are written. */
const OWN = [
  'User-Agent',
  'traceparent',
  'Idempotency-Key',
  'Sched-Delivery-Id',
  'Sched-Attempt',
  'Sched-Occurrence',
  'Sched-Timestamp',
  'Sched-Signature',
];

describe('every delivery carries', () => {
  test('its id, attempt number, key, timestamp, signature, trace and user agent', () => {
    const headers = Object.fromEntries(sentWith({ attemptNo: 3 }));
    expect(Object.keys(headers)).toEqual(OWN);
    expect(headers).toMatchObject({
      'User-Agent': 'Sched/1',
      'Idempotency-Key': 'order-7',
      'Sched-Delivery-Id': pending.id,
      'Sched-Attempt': '3',
      'Sched-Occurrence': formatInstant(pending.occurrence ?? START),
      'Sched-Timestamp': '1794729600',
    });
  });

  test('the nominal instant: of a moved delivery that of the recurrence, of a triggered one none', () => {
    const at = (change: Partial<typeof pending>) =>
      valuesOf(sentWith({ delivery: { ...pending, ...change } }), 'Sched-Occurrence');
    expect(at({ occurrence: NOW })).toEqual(['2026-11-15T08:00:00.999Z']);
    expect(at({ occurrence: instant(NOW + 7), movedFrom: NOW })).toEqual(['2026-11-15T08:00:00.999Z']);
    expect(at({ occurrence: null })).toEqual([]);
  });

  test('no Sched-Request-Id', () => {
    expect(valuesOf(sentWith({}), 'Sched-Request-Id')).toEqual([]);
  });

  test('a signature of what is sent: same timestamp, path without query, exact bytes of the body', () => {
    const body = '{"grüße":"🙈"}';
    const headers = sentWith({ body, url: 'https://example.com/a%20b/ü?q=1&r=2#part', attemptNo: 2 });
    const head = `1794729600.${pending.id}.2.POST./a%20b/%C3%BC.`;
    const expected = createHmac('sha256', SECRET)
      .update(head)
      .update(Buffer.from(body, 'utf8'))
      .digest('hex');
    expect(valuesOf(headers, 'Sched-Signature')).toEqual([`t=1794729600,v1=${expected}`]);
    expect(valuesOf(headers, 'Sched-Timestamp')).toEqual(['1794729600']);
  });

  test('the path / when the URL has none', () => {
    const of = (url: string) => valuesOf(sentWith({ url }), 'Sched-Signature');
    expect(of('https://example.com')).toEqual(of('https://example.com/'));
    expect(of('https://example.com')).toEqual(of('https://example.com?a=b'));
    expect(of('https://example.com')).not.toEqual(of('https://example.com/a'));
  });
});

describe('custom headers', () => {
  test("come first in the given order, and the service's own come last", () => {
    const custom: Headers = [
      ['X-Second', 'b'],
      ['Authorization', 'Bearer c'],
      ['x-lower', ''],
    ];
    const headers = sentWith({ custom });
    expect(headers.slice(0, 3)).toEqual(custom);
    expect(headers.slice(3).map(([name]) => name)).toEqual(OWN);
  });

  test.for([...OWN, 'Sched-Request-Id', 'Sched-Version', 'Sched-', 'Sched-Anything'])(
    'cannot override %s, in any case',
    (name) => {
      const plain = sentWith({});
      for (const spelling of [name, name.toLowerCase(), name.toUpperCase()]) {
        expect(sentWith({ custom: [[spelling, 'forged']] })).toEqual(plain);
      }
    },
  );

  test('cannot override them in any mix of upper and lower case', () => {
    const spelled = fc
      .constantFrom(...OWN)
      .chain((name) => fc.mixedCase(fc.constant(name)))
      .map((name): readonly [string, string] => [name, 'forged']);
    fc.assert(
      fc.property(fc.array(spelled), (custom) => {
        expect(sentWith({ custom })).toEqual(sentWith({}));
      }),
    );
  });

  test.for(['tracestate', 'TraceState'])('%s is dropped with the traceparent that it describes', (name) => {
    const custom: Headers = [
      ['traceparent', `00-${'1'.repeat(32)}-${'2'.repeat(16)}-01`],
      [name, 'vendor=1'],
    ];
    expect(sentWith({ custom })).toEqual(sentWith({}));
  });

  test('are sent when their name only resembles one of the service', () => {
    const custom: Headers = [
      ['Scheduled-By', 'me'],
      ['X-Sched-Attempt', '1'],
      ['Schedule', 'x'],
      ['X-tracestate', 'a=b'],
      ['baggage', 'a=b'],
    ];
    expect(sentWith({ custom }).slice(0, custom.length)).toEqual(custom);
  });
});

describe('a delivery that is signed for Standard Webhooks too', () => {
  const STANDARD = ['webhook-id', 'webhook-timestamp', 'webhook-signature'];
  const body = '{"grüße":"🙈"}';

  test('carries its headers beside all others', () => {
    const headers = sentWith({ body, isStandard: true });
    expect(headers.slice(0, OWN.length)).toEqual(sentWith({ body }));
    const signature = createHmac('sha256', 'guten Tag')
      .update(`${pending.id}.1794729600.${body}`)
      .digest('base64');
    expect(headers.slice(OWN.length)).toEqual([
      ['webhook-id', pending.id],
      ['webhook-timestamp', '1794729600'],
      ['webhook-signature', `v1,${signature}`],
    ]);
  });

  test('has the same signature at every attempt of one second', () => {
    const of = (attemptNo: number) =>
      valuesOf(sentWith({ attemptNo, isStandard: true }), 'webhook-signature');
    expect(of(1)).toEqual(of(2));
  });

  test.for(STANDARD)("does not send the customer's %s, in any case", (name) => {
    for (const spelling of [name, name.toUpperCase(), name.replace('webhook', 'Webhook')]) {
      const custom: Headers = [[spelling, 'forged']];
      expect(sentWith({ custom, isStandard: true })).toEqual(sentWith({ isStandard: true }));
      expect(sentWith({ custom })).toEqual([...custom, ...sentWith({})]);
    }
  });

  test("sends the customer's headers whose names only resemble them", () => {
    const custom: Headers = [
      ['webhook-event', 'a'],
      ['webhook', 'b'],
      ['x-webhook-id', 'c'],
    ];
    expect(sentWith({ custom, isStandard: true }).slice(0, custom.length)).toEqual(custom);
  });
});

describe('the content type', () => {
  test('is application/json for a JSON body, and is not added for other bodies', () => {
    expect(valuesOf(sentWith({ body: '{}', isJson: true }), 'Content-Type')).toEqual(['application/json']);
    expect(valuesOf(sentWith({ body: 'hello' }), 'Content-Type')).toEqual([]);
    expect(valuesOf(sentWith({ body: null }), 'Content-Type')).toEqual([]);
  });

  test.for(['Content-Type', 'content-type', 'CONTENT-TYPE'])("is the customer's when %s is set", (name) => {
    const headers = sentWith({ custom: [[name, 'application/cloudevents+json']], body: '{}', isJson: true });
    expect(valuesOf(headers, 'content-type')).toEqual(['application/cloudevents+json']);
  });
});

describe('the trace', () => {
  const id = (text: string) => `dlv_${text}` as DeliveryId;
  const attempt = (text: string) => `att_${text}` as AttemptId;

  test('has the form of a W3C trace context', () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), (delivery, attemptNo) => {
        const parent = traceparent(traceId(id(delivery)), attempt(attemptNo));
        expect(parent).toMatch(/^00-[0-9a-f]{32}-[0-9a-f]{16}-01$/);
        expect(parent).not.toMatch(/^00-0{32}|-0{16}-/);
      }),
    );
  });

  test('is one for each delivery, with a span for each attempt', () => {
    const traceOf = (parent: string) => parent.split('-')[1];
    const spanOf = (parent: string) => parent.split('-')[2];
    const first = traceparent(traceId(id('1')), attempt('1'));
    const second = traceparent(traceId(id('1')), attempt('2'));
    const other = traceparent(traceId(id('2')), attempt('3'));
    expect(traceparent(traceId(id('1')), attempt('1'))).toBe(first);
    expect(traceOf(second)).toBe(traceOf(first));
    expect(traceOf(other)).not.toBe(traceOf(first));
    expect(new Set([first, second, other].map(spanOf)).size).toBe(3);
  });

  test('has the ids of the delivery and the attempt', () => {
    expect(valuesOf(sentWith({}), 'traceparent')).toEqual([traceparent(traceId(pending.id), attempt('1'))]);
  });
});

describe('a header that may not be sent', () => {
  test.for<readonly [Headers, UnsendableHeader | null]>([
    [[], null],
    [[['X-Fine', 'yes']], null],
    [
      [
        ['X-Fine', 'yes'],
        ['Host', 'example.com'],
        ['Connection', 'close'],
      ],
      { name: 'Host', fault: 'forbidden_header_name' },
    ],
    [[['proxy-authorization', 'x']], { name: 'proxy-authorization', fault: 'forbidden_header_name' }],
    [[['X-Break', 'a\r\nb']], { name: 'X-Break', fault: 'header_line_break' }],
    [[['X\n', 'a']], { name: 'X\n', fault: 'header_name_invalid' }],
    [[['X-Tab', 'a\tb']], { name: 'X-Tab', fault: 'header_control_character' }],
    [[['X-Wide', '試']], { name: 'X-Wide', fault: 'header_not_latin1' }],
    [[['', 'a']], { name: '', fault: 'header_name_invalid' }],
  ])('is found among %j: %j', ([headers, found]) => {
    expect(unsendableHeader(headers)).toEqual(found);
  });
});
