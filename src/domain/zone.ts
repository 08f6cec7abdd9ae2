/**
 * Wall clocks. The timeline of each zone is divided into blocks of a fixed length. A block is computed when it is first
 * needed. It lists the spans of constant offset in it, so that a conversion is integer arithmetic. A block also covers
 * a margin on both sides, which is wider than any offset and any clock change. For each wall time in a block, its
 * instants and the transitions near it are therefore in the spans of that block.
 *
 * Blocks are cached, because computing one takes about a millisecond. The cache does not change any result.
 */
import { LRUCache } from 'lru-cache';
import { Temporal } from 'temporal-polyfill';
import {
  INSTANT_MS_MAX,
  type Instant,
  instant,
  MS_PER_DAY,
  parseWallClock,
  WALL_CLOCK_CHARACTERS,
} from './instant.ts';

/** The reading of a wall clock as if it were UTC, in milliseconds. */
export type LocalTime = number & { readonly __brand: 'LocalTime' };

export type Resolved =
  | { readonly kind: 'single'; readonly at: Instant }
  /** `end` is the first instant after the gap. `shifted` is the wall time moved forward by the length of the gap. */
  | { readonly kind: 'gap'; readonly end: Instant; readonly shifted: Instant }
  | { readonly kind: 'fold'; readonly first: Instant; readonly second: Instant };

/** A period, `end` exclusive, in which the offset of a zone is constant. */
export interface Span {
  readonly start: Instant;
  readonly end: Instant;
  readonly offsetMs: number;
  /** The offset just before `start`. It equals `offsetMs` where only a block begins. */
  readonly offsetBeforeMs: number;
}

/**
 * With its margins a block is shorter than the 1,098 days that one search of the polyfill covers for certain. The
 * thread that sends deliveries computes it.
 */
const BLOCK_MS = 250 * MS_PER_DAY;
const BLOCK_MARGIN_MS = 2 * MS_PER_DAY;
/** Enough for 175 years of one zone. */
const BLOCKS_PER_ZONE_MAX = 256;
/** The number of spellings, because a name is valid in any case: `utc` as well as `UTC`. */
const ZONE_NAMES_MAX = 2_000;
/** The longest name today has 32 characters. */
export const ZONE_NAME_CHARACTERS_MAX = 64;

/** Any zone with clock changes. */
const SOME_ZONE = 'Europe/Berlin';

/** Names that ICU knows but IANA's database does not (or no longer), in upper case. */
const NOT_IANA: ReadonlySet<string> = new Set(
  (
    'ACT AET AGT ART AST BET BST CAT CNT CST CTT EAT ECT IET IST JST MIT NET NST PLT PNT PRT PST SST VST ' +
    'US/PACIFIC-NEW CANADA/EAST-SASKATCHEWAN'
  ).split(' '),
);

interface Zone {
  readonly id: string;
  readonly blocks: LRUCache<number, readonly Span[]>;
}

/** The key is the canonical id, so that links and spellings share an entry. The number of zones bounds the map. */
const zones = new Map<string, Zone>();
const zonesByName = new LRUCache<string, Zone>({ max: ZONE_NAMES_MAX });

function canonicalId(name: string): string | null {
  if (name.length > ZONE_NAME_CHARACTERS_MAX || !/^[a-z][a-z0-9_+/-]*$/i.test(name)) return null;
  const upper = name.toUpperCase();
  if (NOT_IANA.has(upper) || upper.startsWith('SYSTEMV/')) return null;
  try {
    return new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone;
  } catch {
    return null;
  }
}

function findZone(name: string): Zone | null {
  const known = zonesByName.get(name);
  if (known !== undefined) return known;
  const id = canonicalId(name);
  if (id === null) return null;
  const zone = zones.get(id) ?? { id, blocks: new LRUCache({ max: BLOCKS_PER_ZONE_MAX }) };
  zones.set(id, zone);
  zonesByName.set(name, zone);
  return zone;
}

function zoneOf(name: string): Zone {
  const zone = findZone(name);
  if (zone === null) throw new RangeError(`not a time zone: ${name.slice(0, ZONE_NAME_CHARACTERS_MAX)}`);
  return zone;
}

/** Returns true for a name of IANA's time zone database, links included, in any case. */
export function isZone(name: string): boolean {
  return findZone(name) !== null;
}

/** Makes the runtime load its time zone data at the start. It takes a while, and a delivery must not wait for it. */
export function prepareZones(now: Instant): void {
  spanAt(SOME_ZONE, now);
}

function clamp(ms: number): Instant {
  return instant(Math.min(Math.max(ms, -INSTANT_MS_MAX), INSTANT_MS_MAX));
}

function offsetMsOf(zoned: Temporal.ZonedDateTime): number {
  return zoned.offsetNanoseconds / 1_000_000;
}

function computeSpans(zoneId: string, blockStart: number): readonly Span[] {
  const limit = clamp(blockStart + BLOCK_MS + BLOCK_MARGIN_MS);
  let start = clamp(blockStart - BLOCK_MARGIN_MS);
  let zoned = Temporal.Instant.fromEpochMilliseconds(start).toZonedDateTimeISO(zoneId);
  let offsetMs = offsetMsOf(zoned);
  let offsetBeforeMs = offsetMs;
  const spans: Span[] = [];
  while (start < limit) {
    const next = zoned.getTimeZoneTransition('next');
    const end = next === null || next.epochMilliseconds >= limit ? limit : instant(next.epochMilliseconds);
    spans.push({ start, end, offsetMs, offsetBeforeMs });
    if (next === null || end === limit) break;
    start = end;
    zoned = next;
    offsetBeforeMs = offsetMs;
    offsetMs = offsetMsOf(next);
  }
  return spans;
}

function spansAround(zone: Zone, ms: number): readonly Span[] {
  const index = Math.floor(ms / BLOCK_MS);
  const known = zone.blocks.get(index);
  if (known !== undefined) return known;
  const spans = computeSpans(zone.id, index * BLOCK_MS);
  zone.blocks.set(index, spans);
  return spans;
}

/**
 * Returns the span that contains an instant. Spans are cut at the end of a block, so the next span is the one at this
 * span's `end`. That span may begin before it.
 */
export function spanAt(zone: string, at: Instant): Span {
  const spans = spansAround(zoneOf(zone), at);
  for (const span of spans) if (at < span.end) return span;
  const last = spans.at(-1);
  if (last === undefined) throw new Error(`no spans in ${zone} at ${at}`);
  return last;
}

function isLocalTime(ms: number): ms is LocalTime {
  return Number.isInteger(ms);
}

function localTime(ms: number): LocalTime {
  if (!isLocalTime(ms)) throw new RangeError(`not a wall clock in milliseconds: ${ms}`);
  return ms;
}

/** Accepts only `YYYY-MM-DDTHH:MM:SS` with a date that exists. */
export function parseLocalTime(text: string): LocalTime | null {
  if (text.length !== WALL_CLOCK_CHARACTERS || text[10] !== 'T') return null;
  const wall = parseWallClock(text);
  return wall === null ? null : localTime(wall);
}

export function toLocal(zone: string, at: Instant): LocalTime {
  return localTime(at + spanAt(zone, at).offsetMs);
}

export function resolveLocal(zone: string, local: LocalTime): Resolved {
  let first: Instant | null = null;
  let gap: Span | null = null;
  for (const span of spansAround(zoneOf(zone), local)) {
    const at = local - span.offsetMs;
    if (at >= span.start && at < span.end) {
      if (first !== null) return { kind: 'fold', first, second: instant(at) };
      first = instant(at);
    } else if (at < span.start && local - span.offsetBeforeMs >= span.start) {
      gap = span;
    }
  }
  if (first !== null) return { kind: 'single', at: first };
  if (gap !== null) return { kind: 'gap', end: gap.start, shifted: instant(local - gap.offsetBeforeMs) };
  throw new RangeError(`no instant for the wall clock ${local} in ${zone}`);
}

/** Returns one instant for any wall time. In a gap it moves forward by the gap. In a fold it is the earlier pass. */
export function localInstant(zone: string, local: LocalTime): Instant {
  const resolved = resolveLocal(zone, local);
  if (resolved.kind === 'gap') return resolved.shifted;
  return resolved.kind === 'fold' ? resolved.first : resolved.at;
}
