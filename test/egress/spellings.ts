/** Lists all spellings of an address that the WHATWG URL parser accepts. */

/** A random generator that always gives the same numbers for a seed (mulberry32). */
export function seeded(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296) * below);
  };
}

/** The first, the last and some random addresses of the range, as numbers of 32 or 128 bits. */
export function samples(cidr: string, random: (below: number) => number, between: number): readonly bigint[] {
  const [network = '', prefix = ''] = cidr.split('/');
  const bits = network.includes(':') ? 128 : 32;
  const first = network.includes(':') ? ipv6Number(network) : ipv4Number(network);
  const free = BigInt(bits - Number(prefix));
  const size = 1n << free;
  const inner = Array.from({ length: between }, () => first + (randomBits(random, bits) % size));
  return [first, first + size - 1n, ...inner];
}

export function randomBits(random: (below: number) => number, bits: number): bigint {
  let value = 0n;
  for (let done = 0; done < bits; done += 16) value = (value << 16n) | BigInt(random(65_536));
  return value;
}

export function ipv4Number(text: string): bigint {
  return text.split('.').reduce((value, part) => (value << 8n) | BigInt(part), 0n);
}

export function ipv6Number(text: string): bigint {
  const [head = '', tail = ''] = text.split('::');
  const groups = (half: string) => (half === '' ? [] : half.split(':'));
  const missing = 8 - groups(head).length - groups(tail).length;
  const zeros = Array.from({ length: text.includes('::') ? missing : 0 }, () => '0');
  return [...groups(head), ...zeros, ...groups(tail)].reduce(
    (value, group) => (value << 16n) | BigInt(`0x${group}`),
    0n,
  );
}

export function dotted(value: bigint): string {
  return [24n, 16n, 8n, 0n].map((shift) => (value >> shift) & 255n).join('.');
}

function ipv6Groups(value: bigint): readonly bigint[] {
  return Array.from({ length: 8 }, (_, index) => (value >> BigInt(112 - index * 16)) & 65_535n);
}

export function ipv6Text(value: bigint): string {
  return ipv6Groups(value)
    .map((group) => group.toString(16))
    .join(':');
}

/** The parser reads each of these hosts as the given IPv4 address. */
export function ipv4Spellings(value: bigint): readonly string[] {
  const [a = 0n, b = 0n, c = 0n, d = 0n] = [24n, 16n, 8n, 0n].map((shift) => (value >> shift) & 255n);
  const parts = [a, b, c, d];
  const plain = dotted(value);
  return [
    plain,
    `${plain}.`,
    value.toString(),
    `${value}.`,
    `0x${value.toString(16)}`,
    `0X${value.toString(16).toUpperCase()}`,
    `0x0000${value.toString(16)}`,
    `0${value.toString(8)}`,
    parts.map((part) => `0x${part.toString(16)}`).join('.'),
    parts.map((part) => `0${part.toString(8)}`).join('.'),
    parts.map((part) => `000${part.toString(8)}`).join('.'),
    `${a}.${value & 0xffffffn}`,
    `${a}.${b}.${value & 0xffffn}`,
    `0x${a.toString(16)}.0${b.toString(8)}.${value & 0xffffn}`,
    `0${a.toString(8)}.${b}.0x${c.toString(16)}.${d}`,
    escaped(plain),
    plain.replaceAll('.', '%2e'),
    otherDigits(plain, 0xff10),
    otherDigits(plain, 0x1d7ce),
    plain.replaceAll('.', '\u3002'),
    plain.replaceAll('.', '\uff0e'),
    otherDigits(plain, 0xff10).replaceAll('.', '\uff61'),
    escaped(otherDigits(plain, 0xff10)),
  ];
}

function escaped(text: string): string {
  return [...Buffer.from(text)].map((byte) => `%${byte.toString(16).padStart(2, '0')}`).join('');
}

function otherDigits(text: string, zero: number): string {
  return text.replaceAll(/\d/g, (digit) => String.fromCodePoint(zero + Number(digit)));
}

/** The parser reads each of these hosts as the given IPv6 address. */
export function ipv6Spellings(value: bigint): readonly string[] {
  const groups = ipv6Groups(value);
  const padded = groups.map((group) => group.toString(16).padStart(4, '0')).join(':');
  const head = groups.slice(0, 6).map((group) => group.toString(16));
  return [
    ipv6Text(value),
    padded,
    padded.toUpperCase(),
    new URL(`https://[${padded}]`).hostname.slice(1, -1),
    `${head.join(':')}:${dotted(value & 0xffffffffn)}`,
  ].map((text) => `[${text}]`);
}

/** IPv6 addresses that embed the given IPv4 address. */
export function embeddings(ipv4: bigint): readonly bigint[] {
  return [
    ipv4, // compatible
    ipv6Number('::ffff:0:0') | ipv4, // mapped
    ipv6Number('::ffff:0:0:0') | ipv4, // translated
    ipv6Number('64:ff9b::') | ipv4, // NAT64
    ipv6Number('64:ff9b:1::') | ipv4, // local NAT64
    ipv6Number('2002::') | (ipv4 << 80n) | 1n, // 6to4
    ipv6Number('2001::') | (ipv4 << 64n), // Teredo server
    ipv6Number('2001::') | (ipv4 ^ 0xffffffffn), // Teredo client
    ipv6Number('fe80::5efe:0:0') | ipv4, // ISATAP
    ipv6Number('2606:4700::5efe:0:0') | ipv4, // ISATAP behind a public prefix
    ipv6Number('2606:4700::200:5efe:0:0') | ipv4,
  ];
}
