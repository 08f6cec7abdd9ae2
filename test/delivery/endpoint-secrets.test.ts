/**
 * Signing secrets of an endpoint profile in the running service: what is sent to it, and what others accept.
 */
import { describe, expect, it } from 'vitest';
import { createdProfile, expectStatus, ms, replayed } from '#test/e2e/expectations.ts';
import { answer } from '#test/receiver/behaviours.ts';
import type { ReceivedRequest } from '#test/receiver/receiver.ts';
import { expectedSignature, signatureOf, verify } from '#test/receiver/verify.ts';
import { SIGNING_SECRET, useDeliveries } from './harness.ts';
import { sleep, waitForStatus } from './waits.ts';

const { api, hook, given, command, addSecret: alsoSignedWith } = useDeliveries();

/** This is longer than a command and a delivery take. */
const OVERLAP = '12s';
/** A node reads secrets again when they are a second old. */
const FRESH_MS = 1_100;

interface ShownSecret {
  readonly secret: string;
  readonly expires_at: string | null;
  readonly alone_from: string | null;
}

async function secret(verb: string, endpoint: string, overlap: string): Promise<readonly ShownSecret[]> {
  const where = ['--mode', 'test', '--endpoint', endpoint, '--overlap', overlap];
  const secrets = await command<readonly ShownSecret[]>('secret', verb, ...where);
  for (const { secret } of secrets) alsoSignedWith(secret);
  return secrets;
}

function first([newest]: readonly ShownSecret[]): ShownSecret {
  if (newest === undefined) throw new Error('No secret was shown.');
  return newest;
}

/** Returns the secrets that signed the request, in the order of its v1 parts; null for one that is not given. */
function signersOf(request: ReceivedRequest, ...secrets: readonly string[]) {
  return signatureOf(request)?.v1.map(
    (v1) => secrets.find((secret) => expectedSignature(request, secret) === v1) ?? null,
  );
}

/** Creates a profile. The result sends the next delivery to it, or to another endpoint. */
async function profile() {
  const target = hook();
  const { id } = await createdProfile(api, { url: target.url });
  let count = 0;
  return {
    id,
    next: async () => {
      const { pending } = await given({ endpoint_id: id, body: '{"signed":true}' });
      const request = await target.arrived(++count);
      await waitForStatus(api, pending.id, 'succeeded');
      return request;
    },
  };
}

async function toNoProfile(): Promise<ReceivedRequest> {
  const target = hook();
  const { pending } = await given({ endpoint: target.url });
  const request = await target.arrived();
  await waitForStatus(api, pending.id, 'succeeded');
  return request;
}

describe.concurrent('the secret of a profile', () => {
  it("signs beside the project's for the overlap, then alone: a receiver that has the project's refuses", async () => {
    const { id, next } = await profile();
    const other = await profile();
    const own = first(await secret('create', id, OVERLAP));
    expect(own.secret).toMatch(/^whsec_[\w+/=-]+$/);
    const during = await next();
    expect(during.arrivedAt).toBeLessThan(ms(own.alone_from));
    expect(signersOf(during, own.secret, SIGNING_SECRET)).toEqual([own.secret, SIGNING_SECRET]);
    for (const each of [own.secret, SIGNING_SECRET]) expect(verify(during, each)).toBe('verified');

    await sleep(ms(own.alone_from) - Date.now());
    const [after, toAnother, direct] = await Promise.all([next(), other.next(), toNoProfile()]);
    expect(signersOf(after, own.secret, SIGNING_SECRET)).toEqual([own.secret]);
    expect(verify(after, SIGNING_SECRET)).toBe('no signature matches');
    for (const request of [toAnother, direct]) {
      expect(signersOf(request, own.secret, SIGNING_SECRET)).toEqual([SIGNING_SECRET]);
      expect(verify(request, own.secret)).toBe('no signature matches');
    }
  });

  it('during the overlap of a rotation both secrets sign, then only the new one', async () => {
    const { id, next } = await profile();
    const old = first(await secret('create', id, '0'));
    const [fresh, before] = await secret('rotate', id, OVERLAP);
    if (fresh === undefined || before === undefined) throw new Error('No overlap was shown.');
    expect([before.secret, fresh.expires_at]).toEqual([old.secret, null]);
    const all = [fresh.secret, old.secret, SIGNING_SECRET];
    const during = await next();
    expect(during.arrivedAt).toBeLessThan(ms(before.expires_at));
    expect(signersOf(during, ...all)).toEqual([fresh.secret, old.secret]);

    await sleep(ms(before.expires_at) - Date.now());
    expect(signersOf(await next(), ...all)).toEqual([fresh.secret]);
  });

  it("is removed: the project's signs beside it at once, also retries of what was sent before, and then alone", async () => {
    const target = hook(answer(500), answer(200), answer(200));
    const retry_policy = { base: '7s', factor: 1 };
    const { id } = await createdProfile(api, { url: target.url, retry_policy });
    const own = first(await secret('create', id, '0'));
    const { pending } = await given({ endpoint_id: id });
    const all = [own.secret, SIGNING_SECRET];
    expect(signersOf(await target.arrived(), ...all)).toEqual([own.secret]);
    const left = first(await secret('remove', id, OVERLAP));
    expect(left).toMatchObject({ secret: own.secret, alone_from: null });
    const retry = await target.arrived(2);
    expect(retry.arrivedAt).toBeLessThan(ms(left.expires_at));
    expect(signersOf(retry, ...all)).toEqual(all);
    await waitForStatus(api, pending.id, 'succeeded');

    await sleep(ms(left.expires_at) - Date.now());
    await given({ endpoint_id: id });
    expect(signersOf(await target.arrived(3), ...all)).toEqual([SIGNING_SECRET]);
  });

  it('still signs deliveries of an archived profile', async () => {
    const target = hook();
    const { id } = await createdProfile(api, { url: target.url });
    const { pending } = await given({ endpoint_id: id });
    await waitForStatus(api, pending.id, 'succeeded');
    expectStatus(await api.post(`/v1/endpoints/${id}/archive`), 200);
    const own = first(await secret('create', id, '0'));
    await sleep(FRESH_MS);
    await replayed(api, pending.id);
    expect(signersOf(await target.arrived(2), own.secret, SIGNING_SECRET)).toEqual([own.secret]);
  });
});
