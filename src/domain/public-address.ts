/**
 * Decides which addresses are on the public Internet. It works as an allow-list. A text that cannot be parsed is not
 * public. IPv6 is public only inside 2000::/3. In both families all special-purpose ranges of the IANA registries are
 * excluded, globally reachable or not, and so are the metadata services of clouds.
 *
 * IPv6 forms that carry an IPv4 address (mapped, translated, 6to4, Teredo, ISATAP) are never public. A receiver that
 * can be reached at all can be reached without them.
 */
import ipaddr from 'ipaddr.js';

export type Family = 'ipv4' | 'ipv6';

export interface Cidr {
  readonly address: string;
  readonly prefixBits: number;
  readonly family: Family;
}

export interface Address {
  readonly family: Family;
  readonly bytes: readonly number[];
  /** The canonical text. */
  readonly text: string;
}

// The library also reads octal, hexadecimal and short forms, and its refusals are slow.
const FOUR_DECIMALS = /^(0|[1-9]\d*)(\.(0|[1-9]\d*)){3}$/;
const IPV6_CHARACTERS = /^[0-9a-f:]+((0|[1-9]\d*)(\.(0|[1-9]\d*)){3})?$/i;
const BYTE_BITS = 8;

/** Ranges are parsed once, because addresses are checked at every connection. */
interface Range {
  readonly network: Address;
  readonly prefixBits: number;
}

const SPECIAL_IPV4 = ranges([
  '0.0.0.0/8', // this network
  '10.0.0.0/8', // private
  '100.64.0.0/10', // carrier-grade NAT; holds Alibaba's metadata service
  '127.0.0.0/8', // loopback
  '168.63.129.16/32', // Azure's platform and metadata service
  '169.254.0.0/16', // link-local; holds most metadata services
  '172.16.0.0/12', // private
  '192.0.0.0/24', // protocol assignments; holds Oracle's metadata service
  '192.0.2.0/24', // documentation
  '192.31.196.0/24', // AS112
  '192.52.193.0/24', // multicast tunnels
  '192.88.99.0/24', // 6to4 relays
  '192.168.0.0/16', // private
  '192.175.48.0/24', // AS112
  '198.18.0.0/15', // benchmarks
  '198.51.100.0/24', // documentation
  '203.0.113.0/24', // documentation
  '224.0.0.0/4', // multicast
  '240.0.0.0/4', // reserved, and broadcast
]);

const MAPPED_IPV4 = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff];

/** Returns the IPv4 address of a mapped IPv6 address (`::ffff:192.0.2.1`), or the address itself. */
export function unmapped(address: Address): Address {
  const isMapped = address.family === 'ipv6' && MAPPED_IPV4.every((byte, at) => address.bytes[at] === byte);
  const ipv4 = isMapped ? parseAddress(address.bytes.slice(MAPPED_IPV4.length).join('.')) : undefined;
  return ipv4 ?? address;
}

/** The addresses at which a machine reaches itself. */
export const LOOPBACK: readonly Cidr[] = [
  { family: 'ipv4', address: '127.0.0.0', prefixBits: 8 },
  { family: 'ipv6', address: '::1', prefixBits: 128 },
];

const GLOBAL_IPV6 = ranges(['2000::/3']);

const SPECIAL_IPV6 = ranges([
  '2001::/23', // protocol assignments: Teredo, benchmarks, ORCHID
  '2001:db8::/32', // documentation
  '2002::/16', // 6to4
  '2620:4f:8000::/48', // AS112
  '3ffe::/16', // the former 6bone
  '3fff::/20', // documentation
]);

/** Parses only the common forms: four decimal numbers, or IPv6 without a zone. */
export function parseAddress(text: string): Address | undefined {
  if (FOUR_DECIMALS.test(text)) {
    return ipaddr.IPv4.isValid(text) ? address('ipv4', ipaddr.IPv4.parse(text)) : undefined;
  }
  if (!IPV6_CHARACTERS.test(text) || !ipaddr.IPv6.isValid(text)) return undefined;
  return address('ipv6', ipaddr.IPv6.parse(text));
}

function address(family: Family, parsed: ipaddr.IPv4 | ipaddr.IPv6): Address {
  return { family, bytes: parsed.toByteArray(), text: parsed.toString() };
}

export function isSameAddress(one: Address, other: Address): boolean {
  return one.family === other.family && one.text === other.text;
}

export function isPublicAddress(text: string): boolean {
  const address = parseAddress(text);
  if (address === undefined) return false;
  return address.family === 'ipv4'
    ? !isInRanges(address, SPECIAL_IPV4)
    : isInRanges(address, GLOBAL_IPV6) && !isInRanges(address, SPECIAL_IPV6) && !isIsatap(address);
}

/** A name is not resolved. Only `localhost` counts. */
export function isLoopbackHost(host: string): boolean {
  const address = parseAddress(host);
  return address === undefined ? host.toLowerCase() === 'localhost' : isInside(address, LOOPBACK);
}

/** An IPv4 address is never inside an IPv6 range, and an IPv6 address is never inside an IPv4 range. */
export function isInside(address: Address, cidrs: readonly Cidr[]): boolean {
  return cidrs.some(({ address: text, prefixBits }) => {
    const network = parseAddress(text);
    return network !== undefined && isInRanges(address, [{ network, prefixBits }]);
  });
}

function isInRanges({ family, bytes }: Address, ranges: readonly Range[]): boolean {
  return ranges.some(
    ({ network, prefixBits }) => network.family === family && sharePrefix(bytes, network.bytes, prefixBits),
  );
}

function sharePrefix(one: readonly number[], other: readonly number[], bits: number): boolean {
  const whole = Math.floor(bits / BYTE_BITS);
  for (let index = 0; index < whole; index += 1) {
    if (one[index] !== other[index]) return false;
  }
  const free = BYTE_BITS - (bits % BYTE_BITS);
  return free === BYTE_BITS || (one[whole] ?? 0) >> free === (other[whole] ?? 0) >> free;
}

/** Returns true for an interface identifier of 0:5efe or 200:5efe, which is followed by an IPv4 address. */
function isIsatap({ bytes }: Address): boolean {
  return (bytes[8] === 0 || bytes[8] === 2) && bytes[9] === 0 && bytes[10] === 0x5e && bytes[11] === 0xfe;
}

function ranges(texts: readonly string[]): readonly Range[] {
  return texts.map((text) => {
    const [address = '', prefixBits = ''] = text.split('/');
    const network = parseAddress(address);
    if (network === undefined) throw new Error(`Not a range: ${text}.`);
    return { network, prefixBits: Number(prefixBits) };
  });
}
