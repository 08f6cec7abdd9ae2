import { isIP } from 'node:net';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { isInside, isPublicAddress, isSameAddress, parseAddress } from './public-address.ts';

function parsed(text: string) {
  const address = parseAddress(text);
  if (address === undefined) throw new Error(`Not an address: ${text}`);
  return address;
}

describe('an address is public', () => {
  test.each([
    '1.1.1.1',
    '8.8.8.8',
    '9.9.9.9',
    '93.184.215.14',
    '168.63.129.15',
    '223.255.255.255',
    '2000::',
    '2606:4700::1111',
    '2606:4700:4700::1.1.1.1',
    '2a00:1450:4001:812::200e',
    '2620:4f:8001::1',
    '3ffd:ffff:ffff:ffff:ffff:ffff:ffff:ffff',
    '2606:4700::300:5efe:a00:1',
  ])('%s', (text) => expect(isPublicAddress(text)).toBe(true));
});

describe('an address just outside a special range is public', () => {
  test.each([
    ['1.0.0.0', '0.255.255.255'],
    ['9.255.255.255', '10.0.0.0'],
    ['11.0.0.0', '10.255.255.255'],
    ['100.63.255.255', '100.64.0.0'],
    ['100.128.0.0', '100.127.255.255'],
    ['126.255.255.255', '127.0.0.0'],
    ['128.0.0.0', '127.255.255.255'],
    ['168.63.129.17', '168.63.129.16'],
    ['169.253.255.255', '169.254.0.0'],
    ['169.255.0.0', '169.254.255.255'],
    ['172.15.255.255', '172.16.0.0'],
    ['172.32.0.0', '172.31.255.255'],
    ['192.0.1.0', '192.0.0.255'],
    ['192.0.3.0', '192.0.2.255'],
    ['192.31.195.255', '192.31.196.0'],
    ['192.52.194.0', '192.52.193.255'],
    ['192.88.98.255', '192.88.99.0'],
    ['192.167.255.255', '192.168.0.0'],
    ['192.169.0.0', '192.168.255.255'],
    ['192.175.49.0', '192.175.48.255'],
    ['198.17.255.255', '198.18.0.0'],
    ['198.20.0.0', '198.19.255.255'],
    ['198.51.99.255', '198.51.100.0'],
    ['203.0.114.0', '203.0.113.255'],
    ['223.255.255.255', '224.0.0.0'],
    ['2000::', '1fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff'],
    ['2001:200::', '2001:1ff:ffff:ffff:ffff:ffff:ffff:ffff'],
    ['2001:db7:ffff::', '2001:db8::'],
    ['2003::', '2002:ffff:ffff:ffff:ffff:ffff:ffff:ffff'],
    ['2620:4f:7fff::', '2620:4f:8000::'],
    ['3ffd::', '3ffe::'],
    ['3fff:1000::', '3fff:fff:ffff:ffff:ffff:ffff:ffff:ffff'],
    ['3fff:ffff::', '4000::'],
  ])('%s, but not %s', (outside, inside) => {
    expect(isPublicAddress(outside)).toBe(true);
    expect(isPublicAddress(inside)).toBe(false);
  });
});

describe('an address with a special purpose is not public', () => {
  test.each([
    ['169.254.169.254', 'metadata of most clouds'],
    ['168.63.129.16', 'metadata of Azure'],
    ['100.100.100.200', 'metadata of Alibaba'],
    ['192.0.0.192', 'metadata of Oracle'],
    ['fd00:ec2::254', 'metadata of AWS'],
    ['fd20:ce::254', 'metadata of Google'],
    ['255.255.255.255', 'broadcast'],
    ['::', 'unspecified'],
    ['::1', 'loopback'],
    ['fe80::1', 'link-local'],
    ['fec0::1', 'site-local'],
    ['fc00::1', 'unique local'],
    ['ff02::1', 'multicast'],
    ['100::1', 'discard'],
    ['100:0:0:1::1', 'dummy'],
    ['5f00::1', 'segment routing'],
    ['4000::1', 'unassigned'],
    ['::ffff:8.8.8.8', 'mapped'],
    ['::8.8.8.8', 'compatible'],
    ['64:ff9b::8.8.8.8', 'NAT64'],
    ['64:ff9b:1::8.8.8.8', 'local NAT64'],
    ['2002:808:808::1', '6to4'],
    ['2001:0:808:808::1', 'Teredo'],
    ['2001:2::1', 'benchmarks'],
    ['2001:10::1', 'ORCHID'],
    ['2001:20::1', 'ORCHIDv2'],
    ['2606:4700::5efe:8.8.8.8', 'ISATAP'],
    ['2606:4700::200:5efe:10.0.0.1', 'ISATAP, universal'],
  ])('%s: %s', (text) => expect(isPublicAddress(text)).toBe(false));
});

describe('a text that is not an address in its plain form is not public', () => {
  test.each([
    '',
    ' ',
    '8.8.8',
    '8.8.8.8.8',
    '8.8.8.8 ',
    '8.8.8.256',
    '08.8.8.8',
    '0x8.8.8.8',
    '134744072',
    '8.8.8.8/32',
    '8.8.8.8:443',
    '2606:4700::1111%eth0',
    '[2606:4700::1111]',
    '2606:4700',
    '2606::4700::1',
    '2606:4700::1.2.3.04',
    '2606:4700::0x7f.0.0.1',
    '2606:4700::11111',
    'example.com',
    '٨.٨.٨.٨',
    'null',
  ])('%j', (text) => {
    expect(parseAddress(text)).toBeUndefined();
    expect(isPublicAddress(text)).toBe(false);
  });

  test('every parsed address is an address for the system too', () => {
    const nearly = fc.stringMatching(/^[0-9a-fA-F:.]{2,39}$/);
    fc.assert(
      fc.property(fc.oneof(nearly, fc.ipV4(), fc.ipV6(), fc.string()), (text) => {
        const address = parseAddress(text);
        if (address !== undefined) expect(isIP(text)).toBe(address.family === 'ipv4' ? 4 : 6);
      }),
      { numRuns: 5_000 },
    );
  });
});

describe('an address is inside a network', () => {
  const PRIVATE = { family: 'ipv4', address: '10.1.0.0', prefixBits: 16 } as const;
  const ODD = { family: 'ipv4', address: '10.0.0.130', prefixBits: 25 } as const;
  const LOCAL = { family: 'ipv6', address: 'fd00:1::', prefixBits: 33 } as const;

  test.each([
    ['10.1.2.3', [PRIVATE], true],
    ['10.2.2.3', [PRIVATE], false],
    ['10.2.2.3', [], false],
    ['10.0.0.129', [ODD], true],
    ['10.0.0.127', [ODD], false],
    ['fd00:1:7fff::1', [PRIVATE, LOCAL], true],
    ['fd00:1:8000::1', [PRIVATE, LOCAL], false],
    ['::ffff:10.1.2.3', [PRIVATE], false],
    ['8.8.8.8', [{ family: 'ipv4', address: '0.0.0.0', prefixBits: 0 }], true],
    ['::1', [{ family: 'ipv4', address: '0.0.0.0', prefixBits: 0 }], false],
    ['8.8.8.8', [{ family: 'ipv6', address: '::', prefixBits: 0 }], false],
    ['::1', [{ family: 'ipv6', address: '::1', prefixBits: 128 }], true],
    ['8.8.8.8', [{ family: 'ipv4', address: 'garbage', prefixBits: 0 }], false],
  ] as const)('%s in %j: %s', (text, cidrs, expected) => {
    expect(isInside(parsed(text), cidrs)).toBe(expected);
  });
});

test('an address equals itself in every spelling, and no address of the other family', () => {
  expect(isSameAddress(parsed('2606:4700:0:0::1'), parsed('2606:4700::0001'))).toBe(true);
  expect(isSameAddress(parsed('10.0.0.1'), parsed('10.0.0.2'))).toBe(false);
  expect(isSameAddress(parsed('10.0.0.1'), parsed('::ffff:10.0.0.1'))).toBe(false);
});
