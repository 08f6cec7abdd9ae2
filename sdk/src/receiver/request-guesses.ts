/** Guesses the path and the method that were signed, from what proxies, routers and frameworks do to them. */
import { type NormalizedRequest, splitUrl } from './normalized-request.ts';
import type { NearlyVerified } from './result.ts';

interface RequestGuess {
  readonly reason: NearlyVerified['reason'];
  readonly matched: string;
}

export interface PathGuess extends RequestGuess {
  readonly path: string;
}

export interface MethodGuess extends RequestGuess {
  readonly method: string;
}

const METHODS = ['POST', 'PUT', 'PATCH', 'GET', 'DELETE'];
const SEGMENTS_MAX = 4;
const HEADER_CHARACTERS_MAX = 8_192;
/** The headers in which proxies keep the requested URL before they rewrite it. */
const ORIGINAL_URL_HEADERS = [
  'X-Original-URI',
  'X-Original-URL',
  'X-Forwarded-URI',
  'X-Rewrite-URL',
  'X-Envoy-Original-Path',
];
const PREFIX_HEADERS = ['X-Forwarded-Prefix', 'X-Script-Name'];

export function methodGuesses({ method }: NormalizedRequest): readonly MethodGuess[] {
  return METHODS.filter((each) => each !== method).map((each) => ({
    reason: 'method_differs',
    matched: `the method ${each}, not ${METHODS.includes(method) ? method : 'the one given'}`,
    method: each,
  }));
}

export function pathGuesses(request: NormalizedRequest): readonly PathGuess[] {
  const { path, query } = request;
  const guesses: [matched: string, path: string | null][] = [
    ['the path together with the query', path + query],
    ['the path when it is decoded', decode(path)],
    ['the path as a URL parser writes it', normalize(path)],
    ['the path without the slash at its end', path.replace(/\/$/, '')],
    ['the path with a slash at its end', `${path}/`],
    ...withoutSegments(path),
    ...ORIGINAL_URL_HEADERS.map((name): [string, string | null] => {
      const url = boundedHeader(request, name);
      return [`the path in the header ${name}`, url === null ? null : splitUrl(url).path];
    }),
    ...PREFIX_HEADERS.map((name): [string, string | null] => {
      const prefix = boundedHeader(request, name);
      return [`the path with ${name} in front of it`, prefix === null ? null : prefix + path];
    }),
  ];
  return guesses.flatMap(([matched, guessed]) =>
    guessed === null || guessed === path ? [] : { reason: 'path_differs', matched, path: guessed },
  );
}

/** A proxy in front of the receiver may have added a prefix to the path. */
function withoutSegments(path: string): [string, string][] {
  const segments = path.split('/').slice(1);
  return segments.slice(1, SEGMENTS_MAX + 1).map((_segment, i) => {
    const count = i + 1;
    const which = count === 1 ? 'segment' : `${count} segments`;
    return [`the path without its first ${which}`, `/${segments.slice(count).join('/')}`];
  });
}

function boundedHeader({ header }: NormalizedRequest, name: string): string | null {
  const value = header(name);
  return value === null || value.length > HEADER_CHARACTERS_MAX ? null : value;
}

function normalize(path: string): string | null {
  try {
    return new URL(`http://receiver${path}`).pathname;
  } catch {
    return null;
  }
}

function decode(path: string): string | null {
  try {
    return decodeURIComponent(path);
  } catch {
    return null;
  }
}
