/**
 * Deliveries of the running service, as a receiver with the official library of Standard Webhooks sees them. The
 * library is the one from npm, and it gets each request as it arrived.
 */
import { Webhook, WebhookVerificationError } from 'standardwebhooks';
import { describe, expect, it } from 'vitest';
import type { Api } from '#test/e2e/client.ts';
import { createdProfile, ms, patchedProfile, replayed } from '#test/e2e/expectations.ts';
import { answer } from '#test/receiver/behaviours.ts';
import { type Hook, headerOf, type ReceivedRequest, valuesOf } from '#test/receiver/receiver.ts';
import { expectedSignature, signatureOf } from '#test/receiver/verify.ts';
import { given as givenBy, SIGNING_SECRET, useDeliveries } from './harness.ts';
import { sleep, waitForStatus } from './waits.ts';

const { api, live, hook, command, addSecret: alsoSignedWith } = useDeliveries();

/** This is longer than a command and a delivery take. */
const OVERLAP = '12s';
const STANDARD_NAMES = ['webhook-id', 'webhook-timestamp', 'webhook-signature'];
const RETRY_SOON = { base: '1s', factor: 1 };

interface ShownSecret {
  readonly secret: string;
  readonly expires_at: string | null;
  readonly alone_from: string | null;
}

async function secret(...args: readonly string[]): Promise<readonly ShownSecret[]> {
  const secrets = await command<readonly ShownSecret[]>('secret', ...args);
  for (const { secret: text } of secrets) alsoSignedWith(text);
  return secrets;
}

/** Returns what the library returns: the parsed body, or undefined if there is none. It throws if it refuses. */
function verified(request: ReceivedRequest, text = SIGNING_SECRET): unknown {
  return new Webhook(text).verify(request.body, Object.fromEntries(request.headers));
}

/** Returns the secrets with which the library accepts the request. */
function acceptedWith(request: ReceivedRequest, ...secrets: readonly string[]): readonly string[] {
  return secrets.filter((text) => {
    try {
      verified(request, text);
      return true;
    } catch (error) {
      expect(error).toBeInstanceOf(WebhookVerificationError);
      return false;
    }
  });
}

async function profileTo(target: Hook, body: object = {}, project: Api = api): Promise<string> {
  const wanted = { url: target.url, standard_webhooks: true, ...body };
  return (await createdProfile(project, wanted)).id;
}

/** Sends one delivery to a profile with Standard Webhooks. */
async function delivered(body: object): Promise<ReceivedRequest> {
  const target = hook();
  const { pending } = await givenBy(api, { endpoint_id: await profileTo(target), ...body });
  const request = await target.arrived();
  await waitForStatus(api, pending.id, 'succeeded');
  return request;
}

function standardOf(request: ReceivedRequest): readonly (readonly string[])[] {
  return STANDARD_NAMES.map((name) => valuesOf(request, name));
}

describe.concurrent('the official library', () => {
  it('verifies a delivery, which carries the headers of Sched too', async () => {
    const request = await delivered({ body: '{"hello":"world"}' });
    expect(verified(request)).toEqual({ hello: 'world' });
    expect(headerOf(request, 'webhook-id')).toBe(headerOf(request, 'Sched-Delivery-Id'));
    expect(headerOf(request, 'webhook-timestamp')).toBe(headerOf(request, 'Sched-Timestamp'));
    expect(signatureOf(request)?.v1).toEqual([expectedSignature(request, SIGNING_SECRET)]);
  });

  it('verifies every attempt. The id stays, and each is signed at its own second', async () => {
    const target = hook(answer(500), answer(503), answer(200));
    const endpoint_id = await profileTo(target, { retry_policy: RETRY_SOON });
    const { pending } = await givenBy(api, { endpoint_id, body: '[1]' });
    await waitForStatus(api, pending.id, 'succeeded');
    expect(target.requests).toHaveLength(3);
    for (const request of target.requests) {
      expect(verified(request)).toEqual([1]);
      expect(headerOf(request, 'webhook-id')).toBe(pending.id);
      expect(headerOf(request, 'webhook-timestamp')).toBe(headerOf(request, 'Sched-Timestamp'));
    }
    const different = (name: string) => new Set(target.requests.map((each) => headerOf(each, name))).size;
    expect(different('webhook-signature')).toBe(different('webhook-timestamp'));
    const again = await replayed(api, pending.id);
    const request = await target.arrived(4);
    expect(verified(request)).toEqual([1]);
    expect(headerOf(request, 'webhook-id')).toBe(again.id);
  });

  it.for([{}, { body: '' }])('verifies a delivery without content: %j', async (body) => {
    const request = await delivered(body);
    expect(request.body).toHaveLength(0);
    expect(verified(request)).toBeUndefined();
  });

  it('verifies a body with characters outside ASCII', async () => {
    const body = { grüße: 'こんにちは 🙈', line: '\u2028' };
    expect(verified(await delivered({ body: JSON.stringify(body) }))).toEqual(body);
  });

  it('verifies a body that is not JSON, if it is told not to parse it', async () => {
    const request = await delivered({ body: 'naïve=✓&a=1' });
    const headers = Object.fromEntries(request.headers);
    const webhook = new Webhook(SIGNING_SECRET);
    expect(() => webhook.verify(request.body, headers, { jsonParse: false })).not.toThrow();
    expect(() => webhook.verify('naïve=✓&a=2', headers, { jsonParse: false })).toThrow(
      'No matching signature',
    );
  });

  it('refuses a changed body, id, timestamp or signature, and another secret', async () => {
    const request = await delivered({ body: '{"amount":1}' });
    const changed = (name: string, value: string): ReceivedRequest => ({
      ...request,
      headers: request.headers.map(([own, was]) => [own, own === name ? value : was]),
    });
    const timestamp = Number(headerOf(request, 'webhook-timestamp'));
    const forged: readonly ReceivedRequest[] = [
      { ...request, body: Buffer.from('{"amount":2}') },
      { ...request, body: Buffer.from('{"amount":1} ') },
      changed('webhook-id', `${headerOf(request, 'webhook-id')}x`),
      changed('webhook-timestamp', String(timestamp + 1)),
      changed('webhook-signature', `v1,${Buffer.alloc(32).toString('base64')}`),
    ];
    for (const each of forged) expect(acceptedWith(each, SIGNING_SECRET)).toEqual([]);
    expect(acceptedWith(request, 'whsec_c29tZWJvZHkgZWxzZQ==')).toEqual([]);
  });

  it('verifies with the old secret and with the new one while the secret of the project is rotated', async () => {
    const target = hook();
    const endpoint_id = await profileTo(target, {}, live);
    const [fresh, old] = await secret('rotate', '--mode', 'live', '--overlap', OVERLAP);
    if (fresh === undefined || old === undefined) throw new Error('No overlap was shown.');
    const both = [fresh.secret, old.secret];
    expect(old.secret).toBe(SIGNING_SECRET);
    await givenBy(live, { endpoint_id, body: '{}' });
    const during = await target.arrived();
    expect(during.arrivedAt).toBeLessThan(ms(old.expires_at));
    expect(acceptedWith(during, ...both)).toEqual(both);
    expect(headerOf(during, 'webhook-signature').split(' ')).toHaveLength(2);

    await sleep(ms(old.expires_at) - Date.now());
    const { pending } = await givenBy(live, { endpoint_id, body: '{}' });
    expect(acceptedWith(await target.arrived(2), ...both)).toEqual([fresh.secret]);
    await waitForStatus(live, pending.id, 'succeeded');
  });

  it("verifies with a profile's own secret, beside the project's and alone", async () => {
    const target = hook();
    const endpoint_id = await profileTo(target);
    const [own] = await secret('create', '--endpoint', endpoint_id, '--overlap', OVERLAP);
    if (own === undefined) throw new Error('No secret was shown.');
    const both = [own.secret, SIGNING_SECRET];
    await givenBy(api, { endpoint_id, body: '{}' });
    const beside = await target.arrived();
    expect(beside.arrivedAt).toBeLessThan(ms(own.alone_from));
    expect(acceptedWith(beside, ...both)).toEqual(both);

    await sleep(ms(own.alone_from) - Date.now());
    const { pending } = await givenBy(api, { endpoint_id, body: '{}' });
    const alone = await target.arrived(2);
    expect(acceptedWith(alone, ...both)).toEqual([own.secret]);
    expect(headerOf(alone, 'webhook-signature').split(' ')).toHaveLength(1);
    await waitForStatus(api, pending.id, 'succeeded');
  });
});

describe.concurrent('the headers of Standard Webhooks', () => {
  const forged = Object.fromEntries(STANDARD_NAMES.map((name) => [name, 'forged']));

  it("replace a customer's own", async () => {
    const target = hook();
    const endpoint_id = await profileTo(target, { headers: { 'Webhook-Signature': 'of the profile' } });
    const { pending } = await givenBy(api, { endpoint_id, headers: forged, body: '{}' });
    const request = await target.arrived();
    expect(verified(request)).toEqual({});
    for (const values of standardOf(request)) expect(values).toHaveLength(1);
    await waitForStatus(api, pending.id, 'succeeded');
  });

  it('are not added to other deliveries, and a customer may set them there', async () => {
    const target = hook();
    const endpoint_id = await profileTo(target, { standard_webhooks: false });
    await givenBy(api, { endpoint_id });
    expect(standardOf(await target.arrived())).toEqual([[], [], []]);
    for (const destination of [{ endpoint_id }, { endpoint: target.url }]) {
      const { pending } = await givenBy(api, { ...destination, headers: forged });
      await waitForStatus(api, pending.id, 'succeeded');
    }
    const own = target.requests.slice(1).map(standardOf);
    expect(own).toEqual([
      [['forged'], ['forged'], ['forged']],
      [['forged'], ['forged'], ['forged']],
    ]);
  });

  it('belong to the version of the profile that a delivery was made with', async () => {
    const target = hook(answer(500), answer(200));
    const endpoint_id = await profileTo(target, { retry_policy: { base: '4s', factor: 1 } });
    const { pending } = await givenBy(api, { endpoint_id, body: '{}' });
    await target.arrived();
    await patchedProfile(api, endpoint_id, { standard_webhooks: null });
    const retry = await target.arrived(2);
    expect(verified(retry)).toEqual({});
    await waitForStatus(api, pending.id, 'succeeded');
    await givenBy(api, { endpoint_id, body: '{}' });
    expect(standardOf(await target.arrived(3))).toEqual([[], [], []]);
  });
});
