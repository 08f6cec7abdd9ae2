/** What is kept of answers, and how it is read. The receivers seem to be on the public Internet. */
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import type { Api } from '#test/e2e/client.ts';
import { createdProfile, expectError, patchedProfile, replayed } from '#test/e2e/expectations.ts';
import { PUBLIC_HOST, PUBLIC_NETWORK } from '#test/egress/public-network.ts';
import type { Behaviour } from '#test/receiver/behaviours.ts';
import { answer, bytes, endlessBody, reset } from '#test/receiver/behaviours.ts';
import { useDeliveries } from './harness.ts';
import { waitForEnd } from './waits.ts';

const BYTES_MAX = 20;
/** No line of the log may contain it. */
const MARK = 'aNsWeReD';

const { api, live, hook, given, addSecret } = useDeliveries(
  { SCHED_RESPONSE_EXCERPT: `${BYTES_MAX}` },
  { network: PUBLIC_NETWORK },
);
addSecret(MARK);

const ONCE = { retry_policy: { max_attempts: 1 } };

function publicUrl(url: string): string {
  const { port, pathname } = new URL(url);
  return `https://${PUBLIC_HOST}:${port}${pathname}`;
}

/** Sends a delivery to a receiver with these behaviours, and returns its id when it has ended. */
async function sentTo(script: readonly Behaviour[], given_: object = ONCE): Promise<string> {
  const { pending } = await given({ endpoint: publicUrl(hook(...script).url), ...given_ });
  await waitForEnd(api, pending.id);
  return pending.id;
}

function responsePath(id: string, attemptNo: number | string = 1): string {
  return `/v1/deliveries/${id}/attempts/${attemptNo}/response`;
}

async function responseOf(id: string, attemptNo = 1): Promise<object> {
  const { status, json } = await api.get<object>(responsePath(id, attemptNo));
  expect(status).toBe(200);
  return json;
}

async function expectNothing(id: string, attemptNo: number | string = 1, as: Api = api): Promise<void> {
  expectError(await as.get(responsePath(id, attemptNo)), 404, 'not_found');
}

const kept = (excerpt: string, more: object = {}) => ({
  object: 'attempt_response',
  status_code: 500,
  content_type: 'text/plain',
  excerpt,
  encoding: 'utf-8',
  truncated: false,
  ...more,
});

const TEXT = { headers: { 'content-type': 'text/plain' } };

describe.concurrent('the beginning of an answer', () => {
  it('is kept for each attempt that was not answered with 2xx', async () => {
    const policy = { retry_policy: { max_attempts: 3, base: '40ms', factor: 1 } };
    const id = await sentTo(
      [
        answer(500, { ...TEXT, body: MARK }),
        answer(503, { body: `${MARK} ${'x'.repeat(100)}` }),
        answer(200, { body: 'thanks' }),
      ],
      policy,
    );
    expect(await responseOf(id, 1)).toEqual(kept(MARK));
    const second = { status_code: 503, content_type: null, truncated: true };
    expect(await responseOf(id, 2)).toEqual(
      kept(`${MARK} ${'x'.repeat(BYTES_MAX - MARK.length - 1)}`, second),
    );
    await expectNothing(id, 3);
    const copy = await replayed(api, id);
    await waitForEnd(api, copy.id);
    await expectNothing(copy.id);
  });

  it('of a redirect is kept, and of an attempt without an answer there is none', async () => {
    const redirected = await sentTo([answer(302, { ...TEXT, headers: { location: '/x' }, body: 'moved' })]);
    expect(await responseOf(redirected)).toMatchObject({ status_code: 302, excerpt: 'moved' });
    await expectNothing(await sentTo([reset('after reading')]));
  });

  it('is text where it is UTF-8, also if the bound cut a character in half, and base64 otherwise', async () => {
    const [half, binary, empty] = await Promise.all([
      sentTo([answer(500, { ...TEXT, body: `${'x'.repeat(BYTES_MAX - 1)}\u20ac` })]),
      sentTo([answer(500, { ...TEXT, body: Buffer.from([0x61, 0x00, 0x62]) })]),
      sentTo([answer(500)]),
    ]);
    expect(await responseOf(half)).toEqual(kept('x'.repeat(BYTES_MAX - 1), { truncated: true }));
    expect(await responseOf(binary)).toEqual(kept('YQBi', { encoding: 'base64' }));
    expect(await responseOf(empty)).toEqual(kept('', { content_type: null }));
  });

  it('is not decompressed', async () => {
    const body = gzipSync('x'.repeat(1_000_000));
    const id = await sentTo([answer(500, { headers: { 'content-encoding': 'gzip' }, body })]);
    const excerpt = body.subarray(0, BYTES_MAX).toString('base64');
    const expected = { content_type: null, encoding: 'base64', truncated: true };
    expect(await responseOf(id)).toEqual(kept(excerpt, expected));
  });

  it('of an answer without end is what came within the bounds, and the attempt ends', async () => {
    const fast = endlessBody(500);
    const silent = 'HTTP/1.1 500 No\r\nContent-Type: text/plain\r\nContent-Length: 9\r\n\r\nabc';
    const broken =
      'HTTP/1.1 500 No\r\nContent-Type: text/plain\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\nzz';
    const sent = [[fast], [bytes(silent, 'stay')], [bytes(broken)]].map((script) => sentTo(script));
    const answers = await Promise.all(sent.map(async (id) => responseOf(await id)));
    const cut = ['x'.repeat(BYTES_MAX), 'abc', 'ab'].map((text) => kept(text, { truncated: true }));
    expect(answers).toEqual(cut);
    await fast.closed;
  });
});

describe.concurrent('what an endpoint profile says', () => {
  it('wins over the operator, and belongs to the version of the delivery', async () => {
    const target = hook(answer(500, { ...TEXT, body: 'x'.repeat(100) }));
    const { id } = await createdProfile(api, { url: publicUrl(target.url), ...ONCE, response_excerpt: 50 });
    const first = await given({ endpoint_id: id });
    await patchedProfile(api, id, { response_excerpt: 0 });
    const second = await given({ endpoint_id: id });
    await patchedProfile(api, id, { response_excerpt: null });
    const third = await given({ endpoint_id: id });
    for (const { pending } of [first, second, third]) await waitForEnd(api, pending.id);
    expect(await responseOf(first.pending.id)).toEqual(kept('x'.repeat(50), { truncated: true }));
    await expectNothing(second.pending.id);
    expect(await responseOf(third.pending.id)).toEqual(kept('x'.repeat(BYTES_MAX), { truncated: true }));
  });
});

describe.concurrent('nothing is shown', () => {
  it('of an address that only the operator permits', async () => {
    const target = hook(answer(500, { body: 'internal' }));
    const { id } = await createdProfile(api, { url: target.url, ...ONCE, response_excerpt: 16_384 });
    const { pending } = await given({ endpoint_id: id });
    await waitForEnd(api, pending.id);
    await expectNothing(pending.id);
  });

  it('for another number, another mode, or what does not exist', async () => {
    const id = await sentTo([answer(500, { body: MARK })]);
    for (const attemptNo of [2, 0, '01', '-1', '1.0', 'x', '9999999']) await expectNothing(id, attemptNo);
    await expectNothing(id, 1, live);
    await expectNothing('dlv_00000000000000000000000000');
    await expectNothing('nothing');
  });
});
