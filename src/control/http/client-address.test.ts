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
    ['a trusted peer that names nobody', '10.0.0.7', [], '10.0.0.7'],
    ['a stranger who names another', '203.0.114.9', ['8.8.8.8'], '203.0.114.9'],
    ['a neighbour in a private network', '10.0.1.7', ['8.8.8.8'], '10.0.1.7'],
    ['this machine itself', '127.0.0.1', ['8.8.8.8'], '127.0.0.1'],
    ['whom a trusted proxy names', '10.0.0.7', ['8.8.8.8'], '8.8.8.8'],
    ['the last, before which clients write what they want', '10.0.0.7', ['1.1.1.1, 8.8.8.8'], '8.8.8.8'],
    ['one behind two proxies', '10.0.0.7', ['1.1.1.1, 8.8.8.8,10.0.0.8'], '8.8.8.8'],
    ['one behind two proxies, in two lines', '10.0.0.7', ['1.1.1.1, 8.8.8.8', '10.0.0.8'], '8.8.8.8'],
    ['the first of all, where all are proxies', '10.0.0.7', ['10.0.0.9, 10.0.0.8'], '10.0.0.9'],
    ['a trusted address to the left of a stranger', '10.0.0.7', ['10.0.0.8, 8.8.8.8'], '8.8.8.8'],
    ['an entry that cannot be read', '10.0.0.7', ['8.8.8.8, <script>'], '10.0.0.7'],
    ['one that cannot be read, behind a proxy', '10.0.0.7', ['8.8.8.8, unknown, 10.0.0.8'], '10.0.0.8'],
    ['an empty one', '10.0.0.7', [''], '10.0.0.7'],
    ['an empty one, behind a proxy', '10.0.0.7', ['8.8.8.8,,10.0.0.8'], '10.0.0.8'],
    ['with its port', '10.0.0.7', ['8.8.8.8:51234'], '8.8.8.8'],
    ['IPv6 in brackets with its port', 'fd00::7', ['[2606:4700::1111]:51234'], '2606:4700::1111'],
    ['IPv6 in brackets', '10.0.0.7', ['[2606:4700::1111]'], '2606:4700::1111'],
    ['IPv6', '10.0.0.7', ['2606:4700:0::1111'], '2606:4700::1111'],
    ['a bracket that is not closed', '10.0.0.7', ['[8.8.8.8'], '10.0.0.7'],
    ['a zone', '10.0.0.7', ['fe80::1%eth0'], '10.0.0.7'],
    ['octal numbers', '10.0.0.7', ['010.0.0.1'], '10.0.0.7'],
    ['IPv4 in the form of IPv6', '::ffff:127.0.0.1', [], '127.0.0.1'],
    ['a proxy in the form of IPv6', '::ffff:10.0.0.7', ['::ffff:8.8.8.8'], '8.8.8.8'],
    ['IPv4 in hexadecimal', '10.0.0.7', ['::ffff:808:808'], '8.8.8.8'],
    ['a peer of this link', 'fe80::1%eth0', [], 'fe80::1'],
    ['an endless entry', '10.0.0.7', [`8.8.8.8:${'1'.repeat(10_000)}`], '10.0.0.7'],
    ['an endless list of proxies', '10.0.0.7', [`8.8.8.8${', 10.0.0.8'.repeat(1_000)}`], '10.0.0.8'],
  ])('%s', (_what, peer, forwarded, address) => {
    expect(listening().addresses.resolve(requestFrom(peer, ...forwarded)).address).toBe(address);
  });

  test('has the peer beside it', () => {
    const { addresses } = listening();
    expect(addresses.resolve(requestFrom('::ffff:10.0.0.7', '8.8.8.8'))).toEqual({
      address: '8.8.8.8',
      peer: '10.0.0.7',
    });
  });

  test.each([undefined, '', '/run/sched.sock'])(
    'a peer without an address is trusted by nobody: %s',
    (peer) => {
      const everything = [
        { address: '0.0.0.0', prefixBits: 0, family: 'ipv4' },
        { address: '::', prefixBits: 0, family: 'ipv6' },
      ] as const;
      const { addresses } = listening(everything);
      expect(addresses.resolve(requestFrom(peer, '8.8.8.8'))).toEqual({
        address: 'unknown',
        peer: 'unknown',
      });
    },
  );

  test('nobody is trusted unless the operator says so', () => {
    const { addresses } = listening([]);
    for (const peer of ['127.0.0.1', '::1', '10.0.0.7', '8.8.4.4'])
      expect(addresses.resolve(requestFrom(peer, '8.8.8.8')).address).toBe(peer);
  });
});

describe('a header that is ignored', () => {
  test('is warned of once, with the peer and the setting', () => {
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
