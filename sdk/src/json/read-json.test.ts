/** Checks the reader against values with known texts, and against the runtime where the runtime has no bug. */
import * as fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { JsonBuilder } from './builder.ts';
import { hasEscapedKey, readJson, readStrictly } from './read-json.ts';
import { JsonScanner } from './scanner.ts';

/** A text and its value. */
interface Written {
  readonly text: string;
  readonly value: unknown;
}

type Style = 'plain' | 'short' | 'lower' | 'upper';

const SHORT: Readonly<Record<string, string>> = {
  '"': '\\"',
  '\\': '\\\\',
  '/': '\\/',
  '\b': '\\b',
  '\f': '\\f',
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
};

function written(unit: string, style: Style): string {
  const code = unit.charCodeAt(0);
  const isPlain = code >= 0x20 && unit !== '"' && unit !== '\\';
  if (style === 'plain' && isPlain) return unit;
  const short = SHORT[unit];
  if (style !== 'lower' && style !== 'upper' && short !== undefined) return short;
  const hex = code.toString(16).padStart(4, '0');
  return `\\u${style === 'upper' ? hex.toUpperCase() : hex}`;
}

/** Few characters, so that keys share prefixes: the bug of the runtime needs two such keys. */
const UNITS = 'agru015_"\\/\n\b\u0000\u001f\u007f\u00e9\u00f6\u2028\ufeff\ud83d\ude80'.split('');
const STYLES: readonly Style[] = ['plain', 'short', 'lower', 'upper'];
const space = fc.string({ unit: fc.constantFrom(' ', '\t', '\n', '\r'), maxLength: 2 });

function stringOf(
  styles: readonly Style[],
  plainOnly = false,
): fc.Arbitrary<Written & { readonly value: string }> {
  const units = plainOnly ? UNITS.filter((unit) => written(unit, 'plain') === unit) : UNITS;
  const unit = fc.tuple(fc.constantFrom(...units), fc.constantFrom(...styles));
  const name = fc.constantFrom('__proto__', 'constructor', 'toString', '0', '10', '2', 'order', 'a', '');
  const fixed = fc.tuple(name, fc.constantFrom(...styles)).map(([text, style]) => spelled(text, style));
  const free = fc.array(unit, { maxLength: 40 }).map((parts) => ({
    text: `"${parts.map(([each, style]) => written(each, style)).join('')}"`,
    value: parts.map(([each]) => each).join(''),
  }));
  return fc.oneof(fixed, free);
}

function spelled(value: string, style: Style): Written & { readonly value: string } {
  return {
    text: `"${value
      .split('')
      .map((unit) => written(unit, style))
      .join('')}"`,
    value,
  };
}

const number = fc
  .constantFrom(
    '0',
    '-0',
    '-0.0',
    '1',
    '-12',
    '1.5',
    '1e3',
    '1E+2',
    '1e-7',
    '1e999',
    '9007199254740993',
    '0.1',
  )
  .map((text) => ({ text, value: Number(text) }));
const word = fc
  .constantFrom<[string, boolean | null][]>(['true', true], ['false', false], ['null', null])
  .map(([text, value]) => ({ text, value }));

/** Generates values with their texts. `key` decides how keys are written. */
function jsonWith(key: fc.Arbitrary<Written & { readonly value: string }>): fc.Arbitrary<Written> {
  const { any } = fc.letrec<{ any: Written; array: Written; object: Written }>((tie) => ({
    any: fc.oneof(
      { depthSize: 'small', withCrossShrink: true },
      number,
      word,
      stringOf(STYLES),
      tie('array'),
      tie('object'),
    ),
    array: fc.tuple(fc.array(tie('any'), { maxLength: 5 }), space).map(([items, gap]) => ({
      text: `[${gap}${items.map(({ text }) => text).join(`${gap},${gap}`)}${gap}]`,
      value: items.map(({ value }) => value),
    })),
    object: fc.tuple(fc.array(fc.tuple(key, tie('any')), { maxLength: 6 }), space).map(([members, gap]) => ({
      text: `{${gap}${members.map(([name, { text }]) => `${name.text}${gap}:${gap}${text}`).join(`${gap},${gap}`)}${gap}}`,
      value: Object.fromEntries(members.map(([name, { value }]) => [name.value, value])),
    })),
  }));
  return fc.tuple(space, any, space).map(([before, { text, value }, after]) => ({
    text: `${before}${text}${after}`,
    value,
  }));
}

const anyJson = jsonWith(stringOf(STYLES));
const plainKeysOnly = jsonWith(stringOf(['plain'], true));

/** A form of the value that also compares the order of keys, and whether each is an own member. */
function shape(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(shape);
  if (typeof value !== 'object' || value === null) return value;
  expect(Object.getPrototypeOf(value)).toBe(Object.prototype);
  return {
    members: Object.entries(Object.getOwnPropertyDescriptors(value)).map(([name, { value, ...flags }]) => [
      name,
      shape(value),
      flags,
    ]),
  };
}

function inSteps(text: string, budget: number): unknown {
  const builder = new JsonBuilder();
  const scanner = new JsonScanner(text, builder);
  while (!scanner.advance(budget));
  return builder.value;
}

/** The name of the error, or the value. */
function outcome(read: () => unknown): unknown {
  try {
    return { value: shape(read()) };
  } catch (error) {
    return error instanceof Error ? error.name : error;
  }
}

describe('a key with an escape', () => {
  test.each<[string, string, string, string]>([
    ['{"order":"a","gr\\\\u0":"x"}', '{"order":"b","gr\\u00f6\\u00dfe":"y"}', 'größe', 'y'],
    ['{"h":[],"\\\\":0}', '{"h":1,"\\"":"y"}', '"', 'y'],
    ['{"k":0,"\\\\":0}', '{"k":1,"\\n":"y"}', '\n', 'y'],
  ])('%s does not change how %s is read', (before, text, key, value) => {
    readJson(before);
    JSON.parse(before);
    expect(Object.entries(readJson(text) as object)[1]).toEqual([key, value]);
  });

  it('is not mistaken for an earlier key that equals its first part', () => {
    const before = fc.uniqueArray(fc.constantFrom('a', 'order', 'gr'), { maxLength: 2 });
    fc.assert(
      fc.property(before, stringOf(STYLES), (names, key) => {
        const alike = key.text.slice(1, 1 + key.value.length);
        JSON.parse(JSON.stringify(Object.fromEntries([...names, alike].map((name) => [name, 0]))));
        const members = names.map((name) => `"${name}":0`);
        expect(readJson(`{${[...members, `${key.text}:1`].join()}}`)).toEqual(
          Object.fromEntries([...names.map((name) => [name, 0]), [key.value, 1]]),
        );
      }),
      { numRuns: 2_000 },
    );
  });
});

describe('readJson', () => {
  it('returns the written value, however keys are escaped', () => {
    fc.assert(
      fc.property(anyJson, ({ text, value }) => {
        expect(shape(readJson(text))).toEqual(shape(value));
        expect(shape(readStrictly(text))).toEqual(shape(value));
      }),
      { numRuns: 2_000 },
    );
  });

  it('agrees with the runtime if no key is escaped', () => {
    fc.assert(
      fc.property(plainKeysOnly, ({ text }) => {
        expect(hasEscapedKey(text)).toBe(false);
        expect(shape(readStrictly(text))).toEqual(shape(JSON.parse(text)));
      }),
      { numRuns: 1_000 },
    );
  });

  it('agrees with the runtime on which damaged texts are JSON', () => {
    const cut = fc.record({
      at: fc.nat(200),
      drop: fc.nat(3),
      insert: fc.constantFrom('', ...'{}[],:"\\-+.0e1tn \u0001x'.split('')),
    });
    fc.assert(
      fc.property(anyJson, fc.array(cut, { minLength: 1, maxLength: 2 }), ({ text }, cuts) => {
        const mutated = cuts.reduce((before, { at, drop, insert }) => {
          const from = at % (before.length + 1);
          return before.slice(0, from) + insert + before.slice(from + drop);
        }, text);
        const isJson = outcome(() => JSON.parse(mutated)) !== 'SyntaxError';
        expect(outcome(() => readStrictly(mutated)) !== 'SyntaxError').toBe(isJson);
        expect(outcome(() => readJson(mutated)) !== 'SyntaxError').toBe(isJson);
      }),
      { numRuns: 5_000 },
    );
  });
});

describe('texts at the edge of the grammar', () => {
  const accepted = [
    '[]',
    '{}',
    ' 1 ',
    '""',
    '"\ud800"',
    '"\\ud800"',
    '"\\u0000"',
    '"\u007f\u2028"',
    '[1,\n2\t,\r3]',
    '{"a":1,"b":2,"a":3}',
    '{"2":0,"1":0,"a":0,"0":0}',
    '{"__proto__":{"a":1}}',
    '{"":0}',
    '-0',
    '1e400',
    '0e1',
    `[${'0,'.repeat(50)}0]`,
    '123456789012345678901234567890',
    '"\\u00E9\\/\\b"',
  ];
  const refused = [
    '',
    ' ',
    '[',
    ']',
    '{',
    '[1',
    '[1,',
    '[1,]',
    '[,1]',
    '[1 2]',
    '{"a"}',
    '{"a":}',
    '{"a":1,}',
    '{,}',
    '{a:1}',
    "{'a':1}",
    '{"a":1 "b":2}',
    '{1:2}',
    '[1}',
    '{"a":1]',
    '01',
    '-',
    '-a',
    '+1',
    '1.',
    '.5',
    '1e',
    '1e+',
    '0x1',
    'NaN',
    'Infinity',
    'tru',
    'truex',
    'nul',
    'True',
    '"',
    '"a',
    '"\\',
    '"\\"',
    '"\\x"',
    '"\\u12"',
    '"\\u12G4"',
    '"\n"',
    '"\t"',
    '"\u0000"',
    '\ufeff1',
    '\u00a01',
    '1\u000b',
    '[] x',
    '1 1',
    '{}{}',
    '//',
    '[1]//',
    '"a"b',
    '\\',
    '["a\\',
    `"${'x'.repeat(40)}\n"`,
  ];
  const texts = [...accepted, ...refused];
  it.each(texts)('%j', (text) => {
    expect(outcome(() => readStrictly(text))).toEqual(outcome(() => JSON.parse(text)));
  });

  it.each(accepted)('%j is the same in steps of any budget', (text) => {
    for (let budget = 1; budget <= text.length + 40; budget++) {
      expect(shape(inSteps(text, budget))).toEqual(shape(JSON.parse(text)));
    }
  });

  it.each(refused)('%j is refused in steps of any budget', (text) => {
    for (let budget = 1; budget <= text.length + 40; budget++) {
      expect(() => inSteps(text, budget)).toThrow(SyntaxError);
    }
  });
});

describe('reading in steps', () => {
  it('returns the same value with any budget', () => {
    fc.assert(
      fc.property(anyJson, fc.integer({ min: 1, max: 400 }), ({ text, value }, budget) => {
        expect(shape(inSteps(text, budget))).toEqual(shape(value));
      }),
      { numRuns: 1_000 },
    );
  });

  const COUNT = 20_000;
  it.each([
    ['a long string', `"${'x'.repeat(COUNT)}"`],
    ['escapes', `"${'\\"'.repeat(COUNT)}"`],
    ['spaces', `${' '.repeat(COUNT)}1`],
    ['nested arrays', `${'['.repeat(COUNT)}${']'.repeat(COUNT)}`],
    ['tiny keys', `{${Array.from({ length: COUNT }, (_, i) => `"${i}":0`).join()}}`],
    ['numbers', `[${Array.from({ length: COUNT }, (_, i) => i).join()}]`],
  ])('reads no more of %s than its budget', (_what, text) => {
    const budget = 1_000;
    const scanner = new JsonScanner(text, new JsonBuilder());
    let steps = 0;
    for (let from = 0; !scanner.advance(budget); steps++) {
      // The token that uses up the budget is read to its end. It is short, and an escape has two characters.
      expect(scanner.position - from).toBeLessThanOrEqual(budget + 14);
      from = scanner.position;
    }
    expect(steps).toBeGreaterThan(text.length / (budget + 14) - 1);
  });

  it('does not overflow the stack', () => {
    const depth = 500_000;
    let value = readStrictly(`${'[{"a":'.repeat(depth)}1${'}]'.repeat(depth)}`);
    let levels = 0;
    for (; Array.isArray(value); levels++) value = (value[0] as { readonly a: unknown }).a;
    expect([levels, value]).toEqual([depth, 1]);
  });
});

describe('within bounds', () => {
  const read = (text: string) => {
    const builder = new JsonBuilder({ membersMax: 2, depthMax: 1, always: new Set(['kept']) });
    new JsonScanner(text, builder).advance(Number.POSITIVE_INFINITY);
    return builder.value;
  };

  it('an object keeps its first members and the named ones, with their last values', () => {
    expect(read('{"a":1,"b":2,"c":3,"kept":4,"a":5,"toString":6}')).toEqual({ a: 5, b: 2, kept: 4 });
  });

  it('a repeated key does not count as a further member', () => {
    expect(read('{"a":1,"a":2,"a":3,"b":4,"c":5}')).toEqual({ a: 3, b: 4 });
    expect(read('{"kept":1,"a":1,"b":2,"c":3}')).toEqual({ kept: 1, a: 1, b: 2 });
  });

  it('an array keeps its first members', () => {
    expect(read('[1,2,3,4]')).toEqual([1, 2]);
  });

  it('a container below the maximum depth stays empty', () => {
    expect(read('{"a":{"b":[1,{"c":1}]},"b":{"d":{"e":"f"},"g":1}}')).toEqual({
      a: { b: [] },
      b: { d: {}, g: 1 },
    });
  });

  it('the whole text is checked', () => {
    expect(() => read('{"a":1,"b":2,"c":[[[[x]]]]}')).toThrow(SyntaxError);
  });
});
