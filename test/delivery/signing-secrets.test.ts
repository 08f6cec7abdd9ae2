/** The signing secret and its rotation in the running service. */
import { describe, expect, it } from 'vitest';
import { created, ms, onlyDelivery } from '#test/e2e/expectations.ts';
import { answer } from '#test/receiver/behaviours.ts';
import { expectedSignature, signatureOf, verify } from '#test/receiver/verify.ts';
import { SIGNING_SECRET, useDeliveries } from './harness.ts';
import { sleep, waitForStatus } from './waits.ts';

const { api, live, hook, given, command, addSecret: alsoSignedWith } = useDeliveries();

interface ShownSecret {
  readonly secret: string;
  readonly expires_at: string | null;
}

async function rotate(mode: string, overlap: string): Promise<readonly ShownSecret[]> {
  const secrets = await command<readonly ShownSecret[]>(
    'secret',
    'rotate',
    '--mode',
    mode,
    '--overlap',
    overlap,
  );
  for (const { secret } of secrets) alsoSignedWith(secret);
  return secrets;
}

/** Sends the next delivery, and returns the secrets that signed it, in the order of the v1 parts. */
async function nextSigned(secrets: readonly ShownSecret[]) {
  const target = hook();
  const { pending } = await given({ endpoint: target.url, body: '{"signed":true}' });
  const request = await target.arrived();
  await waitForStatus(api, pending.id, 'succeeded');
  const signers = signatureOf(request)?.v1.map((v1) =>
    secrets.find(({ secret }) => expectedSignature(request, secret) === v1),
  );
  return { signers, request };
}

/** Each test uses its own mode, so that a rotation in one does not affect the other. */
describe.concurrent('rotation', () => {
  it('in test mode: during the overlap both of the two v1 parts verify, then the old secret is gone', async () => {
    const [fresh, old] = await rotate('test', '3s');
    if (fresh === undefined || old === undefined) throw new Error('No overlap was shown.');
    expect([old.secret, fresh.expires_at]).toEqual([SIGNING_SECRET, null]);
    expect(fresh.secret).toMatch(/^whsec_[\w+/=-]+$/);
    const during = await nextSigned([fresh, old]);
    expect(during.request.arrivedAt).toBeLessThan(ms(old.expires_at));
    expect(during.signers).toEqual([fresh, old]);
    for (const { secret } of [fresh, old]) expect(verify(during.request, secret)).toBe('verified');

    await sleep(ms(old.expires_at) - Date.now() - 900);
    const after = await nextSigned([fresh, old]);
    expect(after.signers).toEqual([fresh]);
    expect(verify(after.request, old.secret)).toBe('no signature matches');
  });

  it('in live mode with overlap 0: only the new secret signs, also retries of earlier deliveries', async () => {
    const target = hook(answer(500), answer(200));
    const retry_policy = { base: '2500ms', factor: 1 };
    const { id } = await created(live, { endpoint: target.url, delay: '1s', retry_policy });
    const pending = await onlyDelivery(live, id);
    await waitForStatus(live, pending.id, 'retry_scheduled');
    const first = await target.arrived();
    expect(signatureOf(first)?.v1).toEqual([expectedSignature(first, SIGNING_SECRET)]);
    const [fresh, ...others] = await rotate('live', '0');
    if (fresh === undefined) throw new Error('No secret was shown.');
    expect(others).toEqual([]);
    const retry = await target.arrived(2);
    expect(signatureOf(retry)?.v1).toEqual([expectedSignature(retry, fresh.secret)]);
    await waitForStatus(live, pending.id, 'succeeded');
  });
});
