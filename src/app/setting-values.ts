/** Parses the text of each setting. A parser returns `undefined` for a text that is not valid. */
import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { parseApiKey } from '#src/domain/api-key.ts';
import { durationMsCeil } from '#src/domain/duration.ts';
import type { Mode } from '#src/domain/project.ts';
import { type Cidr, parseAddress, unmapped } from '#src/domain/public-address.ts';
import { type DatabaseAddress, parseDatabaseAddress } from '#src/store/postgres/address.ts';
import { durationCorrection } from '#src/texts/duration-fault-text.ts';
import { parseMasterKey } from '#src/vault/master-key.ts';

const HOST_CHARACTERS_MAX = 253;
const HOST_LABEL = /^[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?$/i;
const DIGITS = /^\d+$/;
const PORT_MAX = 65_535;
const ORIGINS_MAX = 16;
const ORIGIN = /^https?:\/\/[\w.:[\]-]{1,300}\/?$/i;
export const SIGNING_SECRET_CHARACTERS_MIN = 16;

/** A name whose last label is a number would be read as an IPv4 address, so it is refused. */
export function parseHost(text: string): string | undefined {
  if (isIP(text) !== 0) return text;
  const labels = text.split('.');
  if (text.length > HOST_CHARACTERS_MAX || DIGITS.test(labels.at(-1) ?? '')) return undefined;
  return labels.every((label) => HOST_LABEL.test(label)) ? text : undefined;
}

export function parsePort(text: string): number | undefined {
  return wholeNumberUpTo(PORT_MAX)(text);
}

export function wholeNumberUpTo(max: number): (text: string) => number | undefined {
  return (text) => {
    const value = DIGITS.test(text) ? Number(text) : Number.NaN;
    return value <= max ? value : undefined;
  };
}

export function parseMasterKeys(text: string): readonly Uint8Array[] | undefined {
  return parseList(text, (item) => parseMasterKey(item) ?? undefined);
}

export function parseDatabaseUrl(text: string): DatabaseAddress | undefined {
  const address = parseDatabaseAddress(text);
  return 'wrong' in address ? undefined : address;
}

export function explainDatabaseUrl(text: string): string | null {
  const address = parseDatabaseAddress(text);
  return 'wrong' in address ? address.wrong : null;
}

/** Parses origins such as `https://sched.example.com`, without duplicates. */
export function parseOrigins(text: string): readonly string[] | undefined {
  const origins = parseList(text, parseOrigin);
  return origins === undefined || origins.length > ORIGINS_MAX ? undefined : [...new Set(origins)];
}

function parseOrigin(text: string): string | undefined {
  return ORIGIN.test(text) ? URL.parse(text)?.origin : undefined;
}

export function parseCidrs(text: string): readonly Cidr[] | undefined {
  return parseList(text, parseCidr);
}

/** Parses networks and single addresses. */
export function parseProxies(text: string): readonly Cidr[] | undefined {
  return parseList(text, (item) => {
    const bits = isIP(item) === 4 ? 32 : 128;
    const cidr = parseCidr(item.includes('/') ? item : `${item}/${bits}`);
    // Clients with an IPv4 address are compared as IPv4, so an IPv4-mapped network would match none.
    const network = cidr && parseAddress(cidr.address);
    return network === undefined || unmapped(network) !== network ? undefined : cidr;
  });
}

function parseCidr(text: string): Cidr | undefined {
  const [address = '', prefix = '', ...more] = text.split('/');
  const family = isIP(address);
  // An address with a zone (fe80::1%eth0) belongs to a link of this machine and is not a network.
  if (family === 0 || address.includes('%') || more.length > 0) return undefined;
  const prefixBits = wholeNumberUpTo(family === 4 ? 32 : 128)(prefix);
  return prefixBits === undefined ? undefined : { address, prefixBits, family: `ipv${family === 4 ? 4 : 6}` };
}

/** Parses a list that is separated by commas. One wrong item makes the whole list wrong. */
function parseList<T>(text: string, parse: (item: string) => T | undefined): readonly T[] | undefined {
  const values: T[] = [];
  for (const item of text.split(',')) {
    const value = parse(item.trim());
    if (value === undefined) return undefined;
    values.push(value);
  }
  return values;
}

export function parseBoolean(text: string): boolean | undefined {
  if (text === 'true') return true;
  return text === 'false' ? false : undefined;
}

export function oneOf<T extends string>(choices: readonly T[]): (text: string) => T | undefined {
  return (text) => choices.find((choice) => choice === text);
}

/** Parses 0 to `maxMs`, rounded up, because 0 has a special meaning for some settings. */
export function durationUpTo(maxMs: number): (text: string) => number | undefined {
  return (text) => {
    const ms = durationMsCeil(text);
    return ms === null || text.startsWith('-') || ms > maxMs ? undefined : ms;
  };
}

/** Returns a correction only for a text that is not a duration, and only one that `durationUpTo` accepts. */
export function correctDurationUpTo(maxMs: number): (text: string) => string | null {
  const bounds = { minMs: 0, ...(Number.isFinite(maxMs) && { maxMs }) };
  return (text) => (durationMsCeil(text) === null ? durationCorrection(text, bounds) : null);
}

/** Reads the certificates of a PEM file at once, so that the checked content is the one that is used. */
export function readCertificates(path: string): string | undefined {
  try {
    const pem = readFileSync(path, 'utf8');
    return new X509Certificate(pem).raw.length > 0 ? pem : undefined;
  } catch {
    return undefined;
  }
}

export function apiKeyOf(mode: Mode): (text: string) => string | undefined {
  return (text) => (parseApiKey(text) === mode ? text : undefined);
}

export function parseSigningSecret(text: string): string | undefined {
  return text.length >= SIGNING_SECRET_CHARACTERS_MIN ? text : undefined;
}
