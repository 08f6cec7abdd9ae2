import type { IncomingMessage } from 'node:http';
import { describe, expect, test } from 'vitest';
import type { Log } from '#src/ports/telemetry.ts';
import { ClientAddressResolver } from './client-address.ts';

const TRUSTED = [
  { address: '10.0.0.0', prefixBits: 24, family: 'ipv4' },
  { address: 'fd00::7', prefixBits: 128, family: 'ipv6' },
] as const;

function requestFrom(peer: string | undefined, ...forwarded: readonly string[]): IncomingMessage {
  const rawHeaders = forwarded.flatMap((value) => ['X-Forwarded-For', value]);
  return { rawHeaders, socket: { remoteAddress: peer } } as unknown as IncomingMessage;
}

function listening(trusted: ConstructorParameters<typeof ClientAddressResolver>[0] = TRUSTED) {
  const warnings: { readonly fields: object; readonly message: string }[] = [];
  const log = { warn: (fields: object, message: string) => void warnings.push({ fields, message }) };
  return { addresses: new ClientAddressResolver(trusted, log as unknown as Log), warnings };
}

describe('the address of a client', () => {
  test.each<[what: string, peer: string, forwarded: readonly string[], address: string]>([
    ['the peer itself', '203.0.114.9', [], '203.0.114.9'],
    ['a trusted peer without the header', '10.0.0.7', [], '10.0.0.7'],
    ['an untrusted peer that names another', '203.0.114.9', ['8.8.8.8'], '203.0.114.9'],
    ['another peer in a private network', '10.0.1.7', ['8.8.8.8'], '10.0.1.7'],
    ['this machine itself', '127.0.0.1', ['8.8.8.8'], '127.0.0.1'],
    ['the client named by a trusted proxy', '10.0.0.7', ['8.8.8.8'], '8.8.8.8'],
    ['the last entry, since clients write the ones before it', '10.0.0.7', ['1.1.1.1, 8.8.8.8'], '8.8.8.8'],
    ['the client behind two proxies', '10.0.0.7', ['1.1.1.1, 8.8.8.8,10.0.0.8'], '8.8.8.8'],
    [
      'the client behind two proxies, in two headers',
      '10.0.0.7',
      ['1.1.1.1, 8.8.8.8', '10.0.0.8'],
      '8.8.8.8',
    ],
    ['the first entry, if all are proxies', '10.0.0.7', ['10.0.0.9, 10.0.0.8'], '10.0.0.9'],
    ['a trusted address to the left of an untrusted one', '10.0.0.7', ['10.0.0.8, 8.8.8.8'], '8.8.8.8'],
    ['an invalid entry', '10.0.0.7', ['8.8.8.8, <script>'], '10.0.0.7'],
    ['an invalid entry behind a proxy', '10.0.0.7', ['8.8.8.8, unknown, 10.0.0.8'], '10.0.0.8'],
    ['an empty entry', '10.0.0.7', [''], '10.0.0.7'],
    ['an empty entry behind a proxy', '10.0.0.7', ['8.8.8.8,,10.0.0.8'], '10.0.0.8'],
    ['an entry with a port', '10.0.0.7', ['8.8.8.8:51234'], '8.8.8.8'],
    ['IPv6 in brackets with a port', 'fd00::7', ['[2606:4700::1111]:51234'], '2606:4700::1111'],
    ['IPv6 in brackets', '10.0.0.7', ['[2606:4700::1111]'], '2606:4700::1111'],
    ['IPv6', '10.0.0.7', ['2606:4700:0::1111'], '2606:4700::1111'],
    ['a bracket that is not closed', '10.0.0.7', ['[8.8.8.8'], '10.0.0.7'],
    ['an entry with a zone', '10.0.0.7', ['fe80::1%eth0'], '10.0.0.7'],
    ['octal numbers', '10.0.0.7', ['010.0.0.1'], '10.0.0.7'],
    ['an IPv4-mapped peer', '::ffff:127.0.0.1', [], '127.0.0.1'],
    ['an IPv4-mapped proxy', '::ffff:10.0.0.7', ['::ffff:8.8.8.8'], '8.8.8.8'],
    ['an IPv4-mapped address in hexadecimal', '10.0.0.7', ['::ffff:808:808'], '8.8.8.8'],
    ['a link-local peer', 'fe80::1%eth0', [], 'fe80::1'],
    ['a very long entry', '10.0.0.7', [`8.8.8.8:${'1'.repeat(10_000)}`], '10.0.0.7'],
    ['a very long list of proxies', '10.0.0.7', [`8.8.8.8${', 10.0.0.8'.repeat(1_000)}`], '10.0.0.8'],
  ])('%s', (_what, peer, forwarded, address) => {
    expect(listening().addresses.resolve(requestFrom(peer, ...forwarded)).address).toBe(address);
  });

  test('comes with the address of the peer', () => {
    const { addresses } = listening();
    expect(addresses.resolve(requestFrom('::ffff:10.0.0.7', '8.8.8.8'))).toEqual({
      address: '8.8.8.8',
      peer: '10.0.0.7',
    });
  });

  test.each([undefined, '', '/run/sched.sock'])('is unknown for a peer without an address: %s', (peer) => {
    const everything = [
      { address: '0.0.0.0', prefixBits: 0, family: 'ipv4' },
      { address: '::', prefixBits: 0, family: 'ipv6' },
    ] as const;
    const { addresses } = listening(everything);
    expect(addresses.resolve(requestFrom(peer, '8.8.8.8'))).toEqual({
      address: 'unknown',
      peer: 'unknown',
    });
  });

  test('is the peer if the operator trusts no proxy', () => {
    const { addresses } = listening([]);
    for (const peer of ['127.0.0.1', '::1', '10.0.0.7', '8.8.4.4'])
      expect(addresses.resolve(requestFrom(peer, '8.8.8.8')).address).toBe(peer);
  });
});

describe('an ignored header', () => {
  test('causes one warning, with the peer and the setting', () => {
    const { addresses, warnings } = listening();
    addresses.resolve(requestFrom('10.0.0.7', '8.8.8.8'));
    addresses.resolve(requestFrom('10.0.1.7'));
    expect(warnings).toEqual([]);
    for (let i = 0; i < 3; i += 1) addresses.resolve(requestFrom('10.0.1.7', '8.8.8.8'));
    expect(warnings).toEqual([
      { fields: { peer: '10.0.1.7' }, message: expect.stringContaining('SCHED_TRUSTED_PROXIES') },
    ]);
  });
});
