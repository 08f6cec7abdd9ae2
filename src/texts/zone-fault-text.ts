/** Says what is wrong with the name of a time zone, and which name was probably meant. */

import { Names } from '#src/domain/nearest-name.ts';
import { isZone } from '#src/domain/zone.ts';
import { described, quoted } from './quote.ts';

const EXAMPLE = '"Europe/Berlin"';

/** Present names of places that the runtime lists under a former name. */
const RENAMED: ReadonlyMap<string, string> = new Map(
  Object.entries({
    'America/Buenos_Aires': 'America/Argentina/Buenos_Aires',
    'America/Godthab': 'America/Nuuk',
    'Asia/Calcutta': 'Asia/Kolkata',
    'Asia/Katmandu': 'Asia/Kathmandu',
    'Asia/Rangoon': 'Asia/Yangon',
    'Asia/Saigon': 'Asia/Ho_Chi_Minh',
    'Atlantic/Faeroe': 'Atlantic/Faroe',
    'Europe/Kiev': 'Europe/Kyiv',
  }),
);

/** Names that the runtime accepts but does not list. */
const LINKS = ['UTC', 'GMT', 'CET', 'Etc/UTC', 'US/Eastern', 'US/Central', 'US/Mountain', 'US/Pacific'];

/** Abbreviations name an offset of a part of the year, or several zones. This is the zone that is meant most often. */
const ZONE_OF_ABBREVIATION: ReadonlyMap<string, string> = new Map(
  Object.entries({
    AEDT: 'Australia/Sydney',
    AEST: 'Australia/Sydney',
    BRT: 'America/Sao_Paulo',
    BST: 'Europe/London',
    CDT: 'America/Chicago',
    CEST: 'Europe/Berlin',
    CST: 'America/Chicago',
    EDT: 'America/New_York',
    EEST: 'Europe/Athens',
    IST: 'Asia/Kolkata',
    JST: 'Asia/Tokyo',
    KST: 'Asia/Seoul',
    MDT: 'America/Denver',
    MSK: 'Europe/Moscow',
    NZDT: 'Pacific/Auckland',
    NZST: 'Pacific/Auckland',
    PDT: 'America/Los_Angeles',
    PST: 'America/Los_Angeles',
    SGT: 'Asia/Singapore',
    WEST: 'Europe/Lisbon',
    Z: 'UTC',
  }),
);

/** A longer text is not the name of a zone. */
const NAME_CHARACTERS_MAX = 64;
const OFFSET = /^(?:UTC|GMT)?[+-]\d{1,2}(?::?\d{2})?$/i;

export function zoneFaultText(value: unknown, field: string): string {
  const rule = `${field} must be an IANA time zone such as ${EXAMPLE}`;
  if (typeof value !== 'string') return `${rule}, not ${described(value)}.`;
  if (value === '') return `${rule}, or be left out for UTC. It is empty.`;
  if (value.length <= NAME_CHARACTERS_MAX && OFFSET.test(value.trim()))
    return `${rule}. ${quoted(value)} is an offset: name the place, whose clock may change.`;
  const meant = nearestZone(value);
  return `${field} ${quoted(value)} is not an IANA time zone. ${
    meant === null ? `Write a name such as ${EXAMPLE}.` : `Did you mean "${meant}"?`
  }`;
}

/** Returns the zone that was probably meant, by its name or by its place alone, such as `Berlin`. */
export function nearestZone(text: string): string | null {
  if (text.length > NAME_CHARACTERS_MAX) return null;
  const name = text.trim();
  zones ??= readZones();
  const place = () => zones?.places.nearest(name) ?? null;
  const meant =
    ZONE_OF_ABBREVIATION.get(name.toUpperCase()) ??
    zones.names.nearest(name) ??
    zones.nameOfPlace.get(place() ?? '') ??
    null;
  return meant !== null && isZone(meant) ? meant : null;
}

interface Zones {
  readonly names: Names<string>;
  readonly places: Names<string>;
  readonly nameOfPlace: ReadonlyMap<string, string>;
}

/** The runtime lists about 420 names. They are read once, with the first wrong name. */
let zones: Zones | null = null;

function readZones(): Zones {
  const listed = Intl.supportedValuesOf('timeZone').map((name) => RENAMED.get(name) ?? name);
  const nameOfPlace = new Map(listed.map((name) => [name.slice(name.lastIndexOf('/') + 1), name]));
  return {
    names: new Names([...listed, ...LINKS]),
    places: new Names(nameOfPlace.keys()),
    nameOfPlace,
  };
}
