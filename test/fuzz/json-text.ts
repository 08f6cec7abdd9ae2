/**
 * JSON as text, not as values. The fuzzer can then send what `JSON.stringify` never writes, such as `1e999`,
 * a name given twice, a lone surrogate or a hundred thousand brackets.
 */
import type { Prng } from './prng.ts';

/** A piece of JSON text. */
export type Json = string;
export type Members = readonly (readonly [name: string, value: Json])[];

export const DEEP_LEVELS = 100_000;
const LONG_CHARACTERS_MAX = 300_000;
const MANY_MEMBERS_MAX = 20_000;

export function text(value: unknown): Json {
  return JSON.stringify(value);
}

export function object(members: Members): Json {
  return `{${members.map(([name, value]) => `${text(name)}:${value}`).join(',')}}`;
}

const NUMBERS: readonly Json[] = [
  '0',
  '-0',
  '-0.0',
  '1',
  '-1',
  '0.5',
  '1.5',
  '1e999',
  '-1e999',
  '1e308',
  '-1e308',
  '5e-324',
  '1E+2',
  '9007199254740993',
  '-9223372036854775809',
  '123456789012345678901234567890',
  '0.1000000000000000055511151231257827',
  `1${'0'.repeat(400)}`,
  `0.${'0'.repeat(400)}1`,
];

const WORDS: readonly string[] = [
  '',
  ' ',
  '0',
  'null',
  'true',
  '[]',
  '{}',
  '__proto__',
  'constructor',
  'prototype',
  'toString',
  'hasOwnProperty',
  'a\u0000b',
  '\u0000',
  '\ufeff',
  '\ud800',
  '\udfff',
  '\udc00\ud800',
  'a\ud83d',
  '\u{1f680}',
  'e\u0301\u0301\u0301',
  '\u202e\u2066',
  '\u2028\u2029',
  '\r\n',
  '\t',
  '\u007f\u0080\u009f',
  "'; DROP TABLE schedules; --",
  // biome-ignore lint/suspicious/noTemplateCurlyInString: a template that must not be expanded.
  '${7*7}{{7*7}}',
  '%00%0d%0a%s%n',
  '../../../../etc/passwd',
  'http://[::1',
  '1s',
  '5m',
  '* * * * *',
  'UTC',
  'POST',
  '-1',
  'NaN',
  'Infinity',
];

/** Names that reach the prototype in JavaScript when they are looked up without care. */
export const PROTOTYPE_NAMES: readonly string[] = [
  '__proto__',
  'constructor',
  'prototype',
  'toString',
  'valueOf',
  'toJSON',
  'hasOwnProperty',
  'then',
  'length',
  '__defineGetter__',
  '',
  '0',
  '\u0000',
  '\ud800',
];

export function hostileWord(prng: Prng): string {
  if (prng.chance(0.9)) return prng.pick(WORDS);
  return String.fromCharCode(...Array.from({ length: prng.between(1, 12) }, () => prng.int(65_536)));
}

export function hostileName(prng: Prng): string {
  return prng.weighted([
    [5, () => prng.pick(PROTOTYPE_NAMES)],
    [3, () => hostileWord(prng)],
    [1, () => 'k'.repeat(prng.between(100, 5_000))],
  ])();
}

/** A small value of any shape. */
export function anyValue(prng: Prng, levels = 3): Json {
  const leaf = prng.weighted<() => Json>([
    [1, () => prng.pick(['null', 'true', 'false'])],
    [2, () => prng.pick(NUMBERS)],
    [3, () => text(hostileWord(prng))],
  ]);
  if (levels === 0 || prng.chance(0.5)) return leaf();
  const count = prng.int(5);
  if (prng.chance(0.4))
    return `[${Array.from({ length: count }, () => anyValue(prng, levels - 1)).join(',')}]`;
  return anyObject(prng, levels, count);
}

export function anyObject(prng: Prng, levels = 3, count = prng.int(5)): Json {
  return object(
    Array.from({ length: count }, () => [hostileName(prng), anyValue(prng, levels - 1)] as const),
  );
}

export function deepArray(levels = DEEP_LEVELS): Json {
  return '['.repeat(levels) + ']'.repeat(levels);
}

export function deepObject(name: string, levels = DEEP_LEVELS): Json {
  return `${`{${text(name)}:`.repeat(levels)}1${'}'.repeat(levels)}`;
}

/** A value that is deep, long, or has very many members. */
export function hugeValue(prng: Prng): Json {
  return prng.weighted<() => Json>([
    [2, () => deepArray()],
    [2, () => deepObject(prng.pick(['a', '__proto__']))],
    [2, () => text('x'.repeat(prng.between(1_000, LONG_CHARACTERS_MAX)))],
    [1, () => text('\u{1f680}'.repeat(prng.between(1_000, 60_000)))],
    [1, () => text('\u0001'.repeat(prng.between(1_000, 50_000)))],
    [1, () => text('\ud800'.repeat(prng.between(1_000, 50_000)))],
    [1, () => `[${'0,'.repeat(prng.between(1_000, 150_000))}0]`],
    [
      1,
      () => object(Array.from({ length: prng.between(1_000, MANY_MEMBERS_MAX) }, (_, i) => [`k${i}`, '""'])),
    ],
    [1, () => `1${'0'.repeat(prng.between(1_000, LONG_CHARACTERS_MAX))}`],
    [1, () => `{"${'k'.repeat(prng.between(1_000, LONG_CHARACTERS_MAX))}":1}`],
  ])();
}

/** A value that is neither a string nor null. */
export function notString(prng: Prng): Json {
  if (prng.chance(0.01)) return prng.chance(0.5) ? deepArray() : deepObject('a');
  return prng.weighted<() => Json>([
    [2, () => prng.pick(NUMBERS)],
    [1, () => prng.pick(['true', 'false'])],
    [1, () => `[${anyValue(prng, 1)}]`],
    [1, () => '[]'],
    [2, () => anyObject(prng, 2)],
  ])();
}

/** A value that is neither an object of strings nor null. */
export function notStringMap(prng: Prng): Json {
  if (prng.chance(0.01)) return `{"a":${deepArray()}}`;
  return prng.weighted<() => Json>([
    [1, () => prng.pick(NUMBERS)],
    [1, () => prng.pick(['true', 'false'])],
    [1, () => text(hostileWord(prng))],
    [1, () => `[${prng.chance(0.5) ? '' : anyValue(prng, 1)}]`],
    [3, () => object([[hostileName(prng), notString(prng)]])],
    [1, () => object([[hostileName(prng), 'null']])],
  ])();
}

/** A value that is neither an object nor null. */
export function notObject(prng: Prng): Json {
  return prng.weighted<() => Json>([
    [1, () => prng.pick(NUMBERS)],
    [1, () => prng.pick(['true', 'false'])],
    [1, () => text(hostileWord(prng))],
    [1, () => `[${prng.chance(0.5) ? '' : anyValue(prng, 1)}]`],
  ])();
}
