/**
 * Tests every blocked range in every spelling, as the host of the URL and as an answer of the name server:
 * no connection is opened. Public addresses are connected to, exactly as given. Connections are scripted, so
 * no packet leaves the machine.
 */

import { Socket } from 'node:net';
import { expect, test } from 'vitest';
import type { SendResult } from '#src/ports/egress.ts';
import { systemTimers } from '#src/system/timers.ts';
import { loopbackEgress, send } from '#test/egress/harness.ts';
import {
  dotted,
  embeddings,
  ipv4Number,
  ipv4Spellings,
  ipv6Number,
  ipv6Spellings,
  ipv6Text,
  randomBits,
  samples,
  seeded,
} from '#test/egress/spellings.ts';
import type { Connect } from './dial.ts';

const SEED = 20_261_115;
const SAMPLES_BETWEEN = 3;
const PUBLIC_CASES = 1_000;

const BLOCKED_IPV4 = [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '100.100.100.200/32',
  '127.0.0.0/8',
  '168.63.129.16/32',
  '169.254.0.0/16',
  '169.254.169.254/32',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.31.196.0/24',
  '192.52.193.0/24',
  '192.88.99.0/24',
  '192.168.0.0/16',
  '192.175.48.0/24',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/4',
  '240.0.0.0/4',
  '255.255.255.255/32',
];

const BLOCKED_IPV6 = [
  '::/128',
  '::1/128',
  '::/96',
  '::ffff:0:0/96',
  '64:ff9b::/96',
  '64:ff9b:1::/48',
  '100::/64',
  '100:0:0:1::/64',
  '2001::/23',
  '2001::/32',
  '2001:2::/48',
  '2001:10::/28',
  '2001:20::/28',
  '2001:db8::/32',
  '2002::/16',
  '2620:4f:8000::/48',
  '3ffe::/16',
  '3fff::/20',
  '4000::/2',
  '5f00::/16',
  '8000::/1',
  'fc00::/7',
  'fd00:ec2::254/128',
  'fe80::/10',
  'fec0::/10',
  'ff00::/8',
];

/** Texts that are not addresses, or not ones that the guard can check. */
const GARBAGE = ['', 'garbage', '8.8.8', '0x8.8.8.8', '2606:4700::1111%eth0', '127.1', '8.8.8.8 ', '[::1]'];

const random = seeded(SEED);
const blockedIpv4 = BLOCKED_IPV4.flatMap((cidr) => samples(cidr, random, SAMPLES_BETWEEN));
const blockedIpv6 = [
  ...BLOCKED_IPV6.flatMap((cidr) => samples(cidr, random, SAMPLES_BETWEEN)),
  ...blockedIpv4.flatMap(embeddings),
];

/** Resolves to the addresses that the test gives, and records the connections that would be opened. */
function scripted() {
  const connected: string[] = [];
  const connect: Connect = (address, port) => {
    connected.push(`${address.text} ${port}`);
    const refusal = Object.assign(new Error('scripted'), { code: 'ECONNREFUSED' });
    return new Socket().destroy(refusal);
  };
  const answers: string[] = [];
  const resolve = () => Promise.resolve([...answers]);
  const egress = loopbackEgress({ allow: [], certificates: null, timers: systemTimers, connect, resolve });
  return {
    connected,
    send: (url: URL, ...resolved: readonly string[]) => {
      answers.splice(0, answers.length, ...resolved);
      return send(egress, url);
    },
  };
}

function isBlocked(result: SendResult): boolean {
  return result.kind === 'failed' && result.failure === 'address_not_allowed';
}

test('a blocked address is never connected to, in any spelling', async () => {
  const out = scripted();
  const literals = [
    ...blockedIpv4.flatMap((value) =>
      ipv4Spellings(value).map((host) => ({ host, canonical: dotted(value) })),
    ),
    ...blockedIpv6.flatMap((value) =>
      ipv6Spellings(value).map((host) => ({
        host,
        canonical: new URL(`https://[${ipv6Text(value)}]`).hostname,
      })),
    ),
  ];
  const wrong: string[] = [];
  for (const { host, canonical } of literals) {
    const url = new URL(`https://${host}:8443/hook`);
    const result = await out.send(url);
    if (!isBlocked(result) || url.hostname !== canonical)
      wrong.push(`${host}: ${JSON.stringify(result)}, ${url.hostname}`);
  }
  expect(wrong).toEqual([]);
  expect(out.connected).toEqual([]);
  expect(literals.length).toBeGreaterThan(5_000);
}, 30_000);

test('a name with a blocked address is never connected to, even if its other addresses are public', async () => {
  const out = scripted();
  const url = new URL('https://receiver.test/hook');
  const answers = [...blockedIpv4.map(dotted), ...blockedIpv6.map(ipv6Text), ...GARBAGE];
  const wrong: string[] = [];
  for (const answer of answers) {
    for (const addresses of [[answer], ['8.8.8.8', answer], [answer, '2606:4700::1111']]) {
      const result = await out.send(url, ...addresses);
      if (!isBlocked(result)) wrong.push(`${addresses.join()}: ${JSON.stringify(result)}`);
    }
  }
  expect(wrong).toEqual([]);
  expect(out.connected).toEqual([]);
  expect(answers.length * 3).toBeGreaterThan(4_000);
}, 30_000);

test('a public address is connected to, exactly as given', async () => {
  const out = scripted();
  const known = ['1.1.1.1', '8.8.8.8', '9.9.9.9', '93.184.215.14'].map(ipv4Number);
  const knownIpv6 = ['2606:4700::1111', '2a00:1450:4001:812::200e', '2620:fe::fe'].map(ipv6Number);
  const ipv4 = [...known, ...publicIpv4(PUBLIC_CASES / 2)];
  const ipv6 = [...knownIpv6, ...publicIpv6(PUBLIC_CASES / 2)];
  const cases = [
    ...ipv4.map((value) => ({ host: dotted(value), text: dotted(value) })),
    ...ipv6.map((value) => {
      const host = new URL(`https://[${ipv6Text(value)}]`).hostname;
      return { host, text: host.slice(1, -1) };
    }),
  ];
  const wrong: string[] = [];
  for (const { host, text } of cases) {
    for (const url of [`https://${host}/`, 'https://receiver.test/']) {
      out.connected.length = 0;
      const { kind } = await out.send(new URL(url), text);
      const connected = out.connected.map(canonical).join();
      if (kind !== 'failed' || connected !== `${text} 443`) wrong.push(`${text}: ${kind}, ${connected}`);
    }
  }
  expect(wrong).toEqual([]);
  expect(cases.length).toBeGreaterThanOrEqual(PUBLIC_CASES);
}, 30_000);

/** Uses the spelling of the WHATWG parser, which is independent of the library that checks. */
function canonical(connected: string): string {
  const [address = '', port = ''] = connected.split(' ');
  return `${address.includes(':') ? new URL(`https://[${address}]`).hostname.slice(1, -1) : address} ${port}`;
}

function publicIpv4(count: number): readonly bigint[] {
  return fill(count, () => randomBits(random, 32), 32, BLOCKED_IPV4);
}

function publicIpv6(count: number): readonly bigint[] {
  const global = () => (1n << 125n) | (randomBits(random, 128) >> 3n);
  return fill(count, global, 128, BLOCKED_IPV6);
}

function fill(
  count: number,
  draw: () => bigint,
  bits: number,
  blocked: readonly string[],
): readonly bigint[] {
  const values: bigint[] = [];
  while (values.length < count) {
    const value = draw();
    if (!blocked.some((cidr) => covers(cidr, value, bits))) values.push(value);
  }
  return values;
}

function covers(cidr: string, value: bigint, bits: number): boolean {
  const [network = '', prefix = ''] = cidr.split('/');
  const free = BigInt(bits - Number(prefix));
  return value >> free === (bits === 32 ? ipv4Number(network) : ipv6Number(network)) >> free;
}
