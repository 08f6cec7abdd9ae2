/**
 * Only publicly routable destinations are allowed. The address is checked on every connection of a delivery.
 */
import { lookup } from 'node:dns/promises';
import { hostname } from 'node:os';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { Api } from '#test/e2e/client.ts';
import { createdProfile, expectError, ms, schedule } from '#test/e2e/expectations.ts';
import { type RunningService, startCheapest } from '#test/process/run-command.ts';
import { headerOf } from '#test/receiver/receiver.ts';
import { given as givenTo, SETTINGS, TEST_KEY, useDeliveries } from './harness.ts';
import { waitForEnd, waitForStatus } from './waits.ts';

const NOTHING_ALLOWED = { SCHED_EGRESS_ALLOW: '', SCHED_EGRESS_ALLOW_HTTP: '' };
const { api, receiver, addReceiver: alsoReceiver } = useDeliveries(NOTHING_ALLOWED);

const http = alsoReceiver({ scheme: 'http' });
const https = alsoReceiver({});

const NOT_NAMED = 'The name of this machine does not lead to 127.0.0.1.';
async function isNamedHere(): Promise<boolean> {
  const addresses = await lookup(hostname(), { all: true }).catch(() => []);
  return addresses.some(({ address }) => address === '127.0.0.1');
}

const RETRIES = { retry_policy: { base: '0' } };

async function expectBlocked(at: Api, body: object): Promise<void> {
  const { id, pending } = await givenTo(at, { ...body, ...RETRIES });
  const { delivery, attempts } = await waitForEnd(at, pending.id);
  expect(delivery).toMatchObject({ status: 'dead_letter', last_status_code: null, attempt_count: 1 });
  expect(attempts).toMatchObject([
    { outcome: 'terminal', status_code: null, error: expect.stringMatching(/\S/) },
  ]);
  expect(delivery.error).toBe(attempts[0]?.error);
  expect(ms(delivery.finalized_at)).toBe(ms(attempts[0]?.finished_at));
  expect((await schedule(at, id)).state).toBe('completed');
}

describe.concurrent('a literal address that is not publicly routable is accepted with 201 and becomes a dead letter', () => {
  it.each([
    ['private', '10.0.0.1'],
    ['private', '172.16.0.1'],
    ['private', '172.31.255.255'],
    ['private', '192.168.1.1'],
    ['link-local, cloud metadata', '169.254.169.254'],
    ['carrier-grade NAT', '100.64.0.1'],
    ['this network', '0.0.0.0'],
    ['documentation', '192.0.2.1'],
    ['benchmarks', '198.18.0.1'],
    ['multicast', '224.0.0.1'],
    ['reserved', '240.0.0.1'],
    ['broadcast', '255.255.255.255'],
    ['unspecified', '[::]'],
    ['unique local', '[fd00:ec2::254]'],
    ['link-local', '[fe80::1]'],
    ['multicast', '[ff02::1]'],
    ['IPv4-mapped', '[::ffff:10.0.0.1]'],
    ['NAT64 of a private address', '[64:ff9b::a00:1]'],
    ['6to4 of a private address', '[2002:a00:1::]'],
    ['documentation', '[2001:db8::1]'],
  ])('%s: %s', async (_what, host) => {
    await expectBlocked(api, { endpoint: `https://${host}/hook` });
  });
});

describe.concurrent('no connection is made to this machine, in any spelling of its address', () => {
  const here = (host: string) => `https://${host}:${receiver().port}/hook`;

  it.each([
    '127.0.0.1',
    '127.255.255.254',
    '2130706433',
    '0x7f000001',
    '0177.0.0.1',
    '127.1',
    '127.0.0.1.',
    '１２７.0.0.1',
    '[::1]',
    '[::ffff:127.0.0.1]',
    '[::ffff:7f00:1]',
    'localhost',
    'LOCALHOST',
    'localhost.',
    'anything.localhost',
  ])('%s', async (host) => {
    const answer = await api.post('/v1/schedules', { endpoint: here(host), delay: '1s' });
    // A spelling that the URL parser rejects is refused at once, which is fine too.
    if (answer.status === 422) expectError(answer, 422, 'url_blocked', 'endpoint');
    else await expectBlocked(api, { endpoint: here(host) });
    expect(receiver().connections).toBe(0);
  });

  it('also not for the url of an endpoint profile', async () => {
    const { id } = await createdProfile(api, { url: here('127.0.0.1') });
    await expectBlocked(api, { endpoint_id: id });
    expect(receiver().connections).toBe(0);
  });

  it('a name in the hosts file that resolves to this machine', async ({ skip }) => {
    if (!(await isNamedHere())) skip(NOT_NAMED);
    await expectBlocked(api, { endpoint: here(hostname()) });
    expect(receiver().connections).toBe(0);
  });
});

let sched: RunningService;
const allowed = Api.at(() => sched.url).as(TEST_KEY);
beforeAll(async () => {
  vi.stubEnv('HTTPS_PROXY', `http://127.0.0.1:${receiver().port}`);
  vi.stubEnv('HTTP_PROXY', `http://127.0.0.1:${receiver().port}`);
  sched = await startCheapest({ env: SETTINGS });
});
afterAll(async () => {
  await sched.stop();
  vi.unstubAllEnvs();
});

describe.concurrent('with 127.0.0.0/8, ::1 and http allowed by the operator, the rest stays blocked', () => {
  it.each([
    'https://10.0.0.1/hook',
    'https://169.254.169.254/latest/meta-data',
    'https://[fd00::1]/hook',
    'http://10.0.0.1/hook',
    'http://192.168.0.1/hook',
  ])('%s', async (endpoint) => {
    await expectBlocked(allowed, { endpoint });
  });

  it.each(['http://93.184.215.14/hook', 'http://[2606:2800:21f:cb07:6820:80da:af6b:8b2c]/hook'])(
    'plain http to a public address: %s',
    async (endpoint) => {
      await expectBlocked(allowed, { endpoint });
    },
  );

  it('a name in the hosts file is reached under that name', async ({ skip }) => {
    if (!(await isNamedHere())) skip(NOT_NAMED);
    const target = http().hook();
    const endpoint = target.url.replace('127.0.0.1', hostname());
    const { pending } = await givenTo(allowed, { endpoint });
    expect(headerOf(await target.arrived(), 'Host')).toBe(`${hostname()}:${http().port}`);
    await waitForStatus(allowed, pending.id, 'succeeded');
  });

  it('a certificate is verified against the name in the URL', async ({ skip }) => {
    if (!(await isNamedHere())) skip(NOT_NAMED);
    const target = https().hook();
    const endpoint = target.url.replace('127.0.0.1', hostname());
    const { pending } = await givenTo(allowed, { endpoint, retry_policy: { max_attempts: 1 } });
    const { attempts } = await waitForEnd(allowed, pending.id);
    expect(attempts).toMatchObject([{ outcome: 'retryable', status_code: null }]);
    expect(target.requests).toEqual([]);
  });

  it('localhost stays blocked, whatever it resolves to', async () => {
    await expectBlocked(allowed, { endpoint: `https://localhost:${https().port}/` });
  });

  it('a proxy in the environment does not bypass the block', async () => {
    const { pending } = await givenTo(allowed, {
      endpoint: 'https://nosuch.invalid/',
      retry_policy: { max_attempts: 1 },
    });
    expect((await waitForEnd(allowed, pending.id)).attempts).toMatchObject([
      { outcome: 'retryable', status_code: null },
    ]);
    expect(receiver().connections).toBe(0);
  });
});
