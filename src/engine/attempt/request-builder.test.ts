import { createHmac } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import type { Attempt, Delivery } from '#src/domain/delivery.ts';
import { editProfile } from '#src/domain/endpoint-profile.ts';
import type { FailureCode } from '#src/domain/failures.ts';
import type { OutboundRequest } from '#src/ports/egress.ts';
import { StoreUnavailable } from '#src/ports/store.ts';
import { EngineHarness, headerOf, type ScheduleOptions } from '#test/engine-harness.ts';
import { RequestBuilder, type Sendable, UNREADABLE, type Unsendable } from './request-builder.ts';

const SECRET = 'whsec_Z3V0ZW4gVGFn';

/** Creates a schedule and claims its delivery. */
async function claimed(harness: EngineHarness, order: ScheduleOptions) {
  const view = await harness.schedule(order);
  const { delivery, attempt } = harness.build.claim(view.pending, view);
  return { delivery, attempt };
}

type Built = Sendable | Unsendable;

async function builtBy(builder: RequestBuilder, delivery: Delivery, attempt: Attempt): Promise<Built> {
  return builder.finish(await builder.draft(delivery), delivery, attempt);
}

async function built(harness: EngineHarness, order: ScheduleOptions): Promise<Built> {
  const { delivery, attempt } = await claimed(harness, order);
  return builtBy(new RequestBuilder(harness), delivery, attempt);
}

function requestOf(made: Built): OutboundRequest & { readonly timeoutMs: number } {
  if (made.kind !== 'request') throw new Error(`It is ${made.kind}.`);
  return { ...made.request, timeoutMs: made.timeoutMs };
}

function expectSigned(request: OutboundRequest, delivery: Delivery, attempt: Attempt, body: string): void {
  const timestamp = headerOf(request, 'Sched-Timestamp');
  const parts = [timestamp, delivery.id, attempt.attemptNo, request.method, request.url.pathname, body];
  const v1 = createHmac('sha256', SECRET).update(parts.join('.')).digest('hex');
  expect(headerOf(request, 'Sched-Signature')).toBe(`t=${timestamp},v1=${v1}`);
}

describe('the request of a delivery', () => {
  test('has method, URL, custom headers and body of the schedule, and is signed at this second', async () => {
    await using harness = await EngineHarness.open();
    await harness.secret(SECRET);
    const body = '{"grüße":"🙈"}';
    const { delivery, attempt } = await claimed(harness, {
      url: 'https://example.com/hook?tenant=1',
      payload: { headers: [['X-Tenant', 'acme']], body },
    });
    await harness.time.advance(5_432);
    const request = requestOf(await builtBy(new RequestBuilder(harness), delivery, attempt));
    expect(request).toMatchObject({ method: 'POST', body: Buffer.from(body), timeoutMs: 30_000 });
    expect(request.url.href).toBe('https://example.com/hook?tenant=1');
    expect(headerOf(request, 'X-Tenant')).toBe('acme');
    expect(headerOf(request, 'Sched-Timestamp')).toBe(String(Math.floor(harness.now / 1_000)));
    expectSigned(request, delivery, attempt, body);
  });

  test('is never sent unsigned', async () => {
    await using harness = await EngineHarness.open();
    const { delivery, attempt } = await claimed(harness, {});
    const store = new Proxy(harness.store, {
      get: (target, name) => (name === 'listSecrets' ? async () => [] : Reflect.get(target, name)),
    });
    const { insight, clock, vault, composeNotification, egress, timers, ids, log, metrics, node, cluster } =
      harness;
    const unsigned = {
      store,
      insight,
      clock,
      vault,
      composeNotification,
      egress,
      timers,
      ids,
      log,
      metrics,
      node,
      cluster,
    };
    expect(await builtBy(new RequestBuilder(unsigned), delivery, attempt)).toEqual({
      kind: 'unsendable',
      failure: 'no_signing_secret',
    });
  });

  test('has no body if the schedule has none, and an empty body if that of the schedule is empty', async () => {
    await using harness = await EngineHarness.open();
    expect(requestOf(await built(harness, {})).body).toBeNull();
    expect(requestOf(await built(harness, { payload: { body: '' } })).body).toEqual(Buffer.alloc(0));
  });

  test.for(['GET', 'DELETE'] as const)('sends its body with %s too', async (method) => {
    await using harness = await EngineHarness.open();
    const destination = { kind: 'inline', url: 'https://example.com/', method } as const;
    const request = requestOf(await built(harness, { destination, payload: { body: 'x' } }));
    expect(request).toMatchObject({ method, body: Buffer.from('x') });
  });

  test("has the profile's headers unless the schedule sets them, and the profile's timeout, rounded up", async () => {
    await using harness = await EngineHarness.open();
    const profile = await harness.profile({ timeout: '1500.5ms', method: 'PUT' }, [
      ['X-Both', 'of the profile'],
      ['X-EndpointProfile', 'p'],
    ]);
    const request = requestOf(await built(harness, { profile, payload: { headers: [['x-both', 'mine']] } }));
    expect(request.headers.slice(0, 2)).toEqual([
      ['X-EndpointProfile', 'p'],
      ['x-both', 'mine'],
    ]);
    expect(request).toMatchObject({ method: 'PUT', timeoutMs: 1_501 });
  });

  test('uses the version of the profile that its delivery was created from', async () => {
    await using harness = await EngineHarness.open();
    const profile = await harness.profile({ timeout: '7s' }, [['X-Version', 'one']]);
    const { delivery, attempt } = await claimed(harness, { profile });
    const edited = editProfile(profile, { timeout: '9s', url: 'https://example.org/' }, harness.now);
    expect(await harness.disk.replaceProfile({ profile: edited, headers: null, receipt: null })).toBe('done');
    const request = requestOf(await builtBy(new RequestBuilder(harness), delivery, attempt));
    expect([request.timeoutMs, headerOf(request, 'X-Version')]).toEqual([7_000, 'one']);
    expect(request.url.href).toBe('https://example.com/profile');
  });
});

describe('a request that is signed for Standard Webhooks too', () => {
  const standardOf = (request: OutboundRequest) => ({
    id: headerOf(request, 'webhook-id'),
    timestamp: headerOf(request, 'webhook-timestamp'),
    signatures: headerOf(request, 'webhook-signature')?.split(' '),
  });

  function expectedOf(request: OutboundRequest, { id }: Delivery, ...keys: readonly string[]) {
    const timestamp = headerOf(request, 'Sched-Timestamp');
    const signatures = keys.map((key) => {
      const hmac = createHmac('sha256', key).update(`${id}.${timestamp}.`);
      return `v1,${hmac.update(request.body ?? '').digest('base64')}`;
    });
    return { id, timestamp, signatures };
  }

  test('carries both signatures, each with its own key', async () => {
    await using harness = await EngineHarness.open();
    await harness.secret(SECRET);
    const profile = await harness.profile({ standardWebhooks: true });
    const { delivery, attempt } = await claimed(harness, { profile, payload: { body: '{"grüße":"🙈"}' } });
    const request = requestOf(await builtBy(new RequestBuilder(harness), delivery, attempt));
    expectSigned(request, delivery, attempt, '{"grüße":"🙈"}');
    expect(standardOf(request)).toEqual(expectedOf(request, delivery, 'guten Tag'));
  });

  test('is one of a profile version that says so, also if the profile was changed since', async () => {
    await using harness = await EngineHarness.open();
    await harness.secret(SECRET);
    const headers = [['webhook-id', 'mine']] as const;
    const profile = await harness.profile({ standardWebhooks: true });
    const first = await claimed(harness, { profile, payload: { headers } });
    const edited = editProfile(profile, { standardWebhooks: false }, harness.now);
    expect(await harness.disk.replaceProfile({ profile: edited, headers: null, receipt: null })).toBe('done');
    const second = await claimed(harness, { profile: edited, payload: { headers } });
    const builder = new RequestBuilder(harness);
    const before = requestOf(await builtBy(builder, first.delivery, first.attempt));
    expect(standardOf(before)).toEqual(expectedOf(before, first.delivery, 'guten Tag'));
    const after = requestOf(await builtBy(builder, second.delivery, second.attempt));
    expect(standardOf(after)).toEqual({ id: 'mine', timestamp: undefined, signatures: undefined });
  });

  test('has no v1 of a secret that has another form', async () => {
    await using harness = await EngineHarness.open();
    await harness.secret('a secret of before');
    await harness.time.advance(1);
    await harness.secret(SECRET);
    const profile = await harness.profile({ standardWebhooks: true });
    const { delivery, attempt } = await claimed(harness, { profile });
    const request = requestOf(await builtBy(new RequestBuilder(harness), delivery, attempt));
    expect(headerOf(request, 'Sched-Signature')?.split(',v1=')).toHaveLength(3);
    expect(standardOf(request)).toEqual(expectedOf(request, delivery, 'guten Tag'));
  });

  test('is not sent while no secret has its form', async () => {
    await using harness = await EngineHarness.open();
    await harness.secret('a free text');
    const profile = await harness.profile({ standardWebhooks: true });
    const { delivery, attempt } = await claimed(harness, { profile });
    const builder = new RequestBuilder(harness);
    const unsendable = { kind: 'unsendable', failure: 'no_standard_secret' };
    expect(await builtBy(builder, delivery, attempt)).toEqual(unsendable);
    expect(requestOf(await built(harness, {})).headers.map(([name]) => name)).not.toContain('webhook-id');
    await harness.secret(SECRET);
    await harness.time.advance(1_000);
    const request = requestOf(await builtBy(builder, delivery, attempt));
    expect(standardOf(request)).toEqual(expectedOf(request, delivery, 'guten Tag'));
  });
});

describe("a profile's headers", () => {
  test('can be opened only with their own version, which deliveries in flight keep', async () => {
    await using harness = await EngineHarness.open();
    const profile = await harness.profile({}, [['Authorization', 'for the first URL']]);
    const first = await claimed(harness, { profile });
    const stolen = await harness.disk.findProfileHeaders(profile.partition, profile.id, 1);
    const edited = editProfile(profile, { url: 'https://elsewhere.example/' }, harness.now);
    expect(await harness.disk.replaceProfile({ profile: edited, headers: stolen, receipt: null })).toBe(
      'done',
    );
    const second = await claimed(harness, { profile: edited });
    const builder = new RequestBuilder(harness);
    expect(await builtBy(builder, second.delivery, second.attempt)).toEqual(UNREADABLE);
    const request = requestOf(await builtBy(builder, first.delivery, first.attempt));
    expect(headerOf(request, 'Authorization')).toBe('for the first URL');
  });
});

describe('a forbidden header is never sent: the attempt is terminal, with no status code', () => {
  const forbidden: readonly (readonly [name: string, value: string, failure: FailureCode])[] = [
    ['Host', 'evil.example', 'forbidden_header_name'],
    ['content-length', '1', 'forbidden_header_name'],
    ['Connection', 'close', 'forbidden_header_name'],
    ['Keep-Alive', '1', 'forbidden_header_name'],
    ['TE', 'x', 'forbidden_header_name'],
    ['Trailer', 'x', 'forbidden_header_name'],
    ['transfer-encoding', 'chunked', 'forbidden_header_name'],
    ['Upgrade', 'h2c', 'forbidden_header_name'],
    ['Proxy-Anything', 'x', 'forbidden_header_name'],
    ['X-Break', 'a\r\nInjected: b', 'header_line_break'],
    ['X-Tab', 'a\tb', 'header_control_character'],
    ['X Space', 'x', 'header_name_invalid'],
    ['X-Wide', '試験', 'header_not_latin1'],
  ];

  test.for(forbidden)("%s: %j of the schedule's", async ([name, value, failure]) => {
    await using harness = await EngineHarness.open();
    const made = await built(harness, {
      payload: {
        headers: [
          ['X-Fine', 'x'],
          [name, value],
        ],
      },
    });
    expect(made).toEqual({
      kind: 'unsendable',
      failure,
      detail: JSON.stringify(name).slice(0, 100),
    });
  });

  test('also from the profile, unless the schedule overrides it', async () => {
    await using harness = await EngineHarness.open();
    const profile = await harness.profile({}, [['X-Break', 'a\r\nb']]);
    expect((await built(harness, { profile })).kind).toBe('unsendable');
    const mended = await built(harness, { profile, payload: { headers: [['x-break', 'fine']] } });
    expect(mended.kind).toBe('request');
  });

  test('and the failure does not show its value', async () => {
    await using harness = await EngineHarness.open();
    const made = await built(harness, { payload: { headers: [['X-Secret', 'geheim\n']] } });
    expect(JSON.stringify([made, harness.log.lines])).not.toContain('geheim');
  });
});

describe('a request that cannot be built now', () => {
  test('is retryable if the payload cannot be opened', async () => {
    await using harness = await EngineHarness.open();
    const { delivery, attempt } = await claimed(harness, { payload: { body: 'x' } });
    const { store, insight, clock, composeNotification, timers, egress, ids, log, metrics, node, cluster } =
      harness;
    const vault = { seal: cannot, open: cannot, keyedHash: cannot };
    const builder = new RequestBuilder({
      store,
      composeNotification,
      insight,
      clock,
      timers,
      egress,
      ids,
      log,
      metrics,
      node,
      cluster,
      vault,
    });
    const made = await builtBy(builder, delivery, attempt);
    expect(made).toEqual({
      kind: 'unsendable',
      failure: 'request_unreadable',
    });
    expect(harness.log.lines).toMatchObject([{ level: 'error', fields: { delivery: delivery.id } }]);
  });

  test('is retryable if it cannot be signed, whether or not the keys are cached', async () => {
    await using harness = await EngineHarness.open();
    const { delivery, attempt } = await claimed(harness, {});
    const builder = new RequestBuilder(harness);
    const draft = await builder.draft(delivery);
    if (draft.kind !== 'draft') throw new Error('There is a draft.');
    const unsignable = {
      ...draft,
      get path(): string {
        throw new Error('A bug.');
      },
    };
    const first = builder.finish(unsignable, delivery, attempt);
    expect(first).toBeInstanceOf(Promise);
    expect(await first).toBe(UNREADABLE);
    expect(builder.finish(unsignable, delivery, attempt)).toBe(UNREADABLE);
    const line = { level: 'error', fields: { delivery: delivery.id } };
    expect(harness.log.lines).toMatchObject([line, line]);
  });

  test.for(['loadPayloads', 'listSecrets'] as const)(
    'is made ready when the store is back: %s fails as long as it is away',
    async (verb) => {
      await using harness = await EngineHarness.open();
      await harness.secret(SECRET);
      const { delivery, attempt } = await claimed(harness, { payload: { body: 'x' } });
      const builder = new RequestBuilder(harness);
      harness.faults.set('refuses', verb);
      await expect(builtBy(builder, delivery, attempt)).rejects.toThrow(StoreUnavailable);
      harness.faults.clear();
      expectSigned(requestOf(await builtBy(builder, delivery, attempt)), delivery, attempt, 'x');
    },
  );
});

function cannot(): never {
  throw new Error('Sealed with a master key that is not at hand.');
}
