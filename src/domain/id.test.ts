import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { seededBytes } from '#test/store-contract/builders.ts';
import { creationOf, firstIdAt, ID_RANDOM_BYTES, type IdKind, IdMint, parseId } from './id.ts';
import { type Instant, instant } from './instant.ts';

const KINDS: readonly IdKind[] = ['sch', 'dlv', 'ep', 'att', 'req', 'prj', 'key', 'sec'];
const TIME_MAX_MS = 2 ** 48 - 1;
const instants: fc.Arbitrary<Instant> = fc.integer({ min: 0, max: TIME_MAX_MS }).map(instant);
const NOW = instant(Date.UTC(2026, 10, 15, 8));

function newMint(seed = 1): IdMint {
  return new IdMint(seededBytes(seed));
}

describe('an id', () => {
  test.for(KINDS)('of kind %s is its prefix and 26 characters, and parses as that kind only', (kind) => {
    const id = newMint().mint(kind, NOW);
    expect(id).toMatch(new RegExp(`^${kind}_[0-9a-hjkmnp-tv-z]{26}$`));
    for (const other of KINDS) expect(parseId(other, id)).toBe(other === kind ? id : null);
  });

  test('that is created later sorts later, with any random part', () => {
    fc.assert(
      fc.property(instants, instants, fc.integer(), fc.integer(), (one, other, seed, otherSeed) => {
        const first = newMint(seed).mint('sch', one);
        const second = newMint(otherSeed).mint('sch', other);
        if (one !== other) expect(first < second).toBe(one < other);
      }),
      { numRuns: 1_000, seed: 1 },
    );
  });

  test('that is created after another in the same millisecond sorts after it', () => {
    const mint = newMint();
    const ids = Array.from({ length: 5_000 }, () => mint.mint('dlv', NOW));
    expect(ids.toSorted()).toEqual(ids);
    expect(new Set(ids).size).toBe(ids.length);
  });

  test('of several kinds in the same millisecond is ordered within each kind', () => {
    const mint = newMint();
    const tails = KINDS.map((kind) => mint.mint(kind, NOW).slice(kind.length));
    expect(tails.toSorted()).toEqual(tails);
  });

  test('counts up over every digit and keeps its millisecond', () => {
    const mint = new IdMint(() => new Uint8Array(ID_RANDOM_BYTES).fill(0xff).fill(0xfe, 9));
    const first = mint.mint('sch', NOW);
    const second = mint.mint('sch', NOW);
    expect(first.endsWith('zzzy')).toBe(true);
    expect(second.endsWith('zzzz')).toBe(true);
    // The random part cannot count up any more, so a new one is drawn within the same millisecond.
    expect(mint.mint('sch', NOW).slice(0, 14)).toBe(first.slice(0, 14));
  });

  test('uses 80 random bits', () => {
    const zeros = new IdMint(() => new Uint8Array(ID_RANDOM_BYTES)).mint('sch', NOW);
    const ones = new IdMint(() => new Uint8Array(ID_RANDOM_BYTES).fill(255)).mint('sch', NOW);
    expect([zeros.slice(-16), ones.slice(-16)]).toEqual(['0'.repeat(16), 'z'.repeat(16)]);
    for (let bit = 0; bit < 80; bit++) {
      const bytes = new Uint8Array(ID_RANDOM_BYTES);
      bytes[bit >> 3] = 128 >> (bit & 7);
      expect(new IdMint(() => bytes).mint('sch', NOW)).not.toBe(zeros);
    }
  });
});

describe('the first id at an instant', () => {
  test('is not after any id of that instant, and after every id before it', () => {
    fc.assert(
      fc.property(instants, fc.integer(), (at, seed) => {
        const first = firstIdAt('dlv', at);
        const mint = newMint(seed);
        expect(mint.mint('dlv', at) >= first).toBe(true);
        if (at > 0) expect(mint.mint('dlv', instant(at - 1)) < first).toBe(true);
        if (at < TIME_MAX_MS) expect(mint.mint('dlv', instant(at + 1)) > first).toBe(true);
      }),
      { numRuns: 1_000, seed: 2 },
    );
  });

  test('bounds every id when the instant is outside the range of ids', () => {
    const id = newMint().mint('dlv', NOW);
    expect(firstIdAt('dlv', instant(-1e15)) < id).toBe(true);
    expect(firstIdAt('dlv', instant(8e15)) > id).toBe(true);
  });

  test('has the form of an id', () => {
    for (const at of [0, 1, NOW, TIME_MAX_MS]) {
      const text = firstIdAt('dlv', instant(at));
      expect(parseId('dlv', text)).toBe(text);
    }
  });
});

describe('a text is not an id:', () => {
  const id = newMint().mint('sch', NOW);
  test.for([
    ['nothing', ''],
    ['the prefix alone', 'sch_'],
    ['another kind', id.replace('sch', 'dlv')],
    ['an upper-case prefix', id.replace('sch', 'SCH')],
    ['upper case', id.toUpperCase().replace('SCH', 'sch')],
    ['too short', id.slice(0, -1)],
    ['too long', `${id}0`],
    ['a space', `${id} `],
    ['a line break', `${id}\n`],
    ['a character left out of the alphabet', `${id.slice(0, -1)}u`],
    ['an i', `${id.slice(0, -1)}i`],
    ['an l', `${id.slice(0, -1)}l`],
    ['an o', `${id.slice(0, -1)}o`],
    ['a time past 48 bits', `sch_8${id.slice(5)}`],
    ['no underscore', id.replace('_', '-')],
    ['NUL', `${id.slice(0, -1)}\0`],
    ['SQL', `sch_' OR '1'='1`],
  ] as const)('%s', ([, text]) => {
    expect(parseId('sch', text)).toBeNull();
  });

  test('any text that was not created as one', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        expect(parseId('sch', text)).toBeNull();
        expect(parseId('sch', `sch_${text}`)).toBeNull();
      }),
      { numRuns: 500, seed: 3 },
    );
  });
});

test('an id tells when its object was created', () => {
  for (const ms of [0, 1, 1_700_000_000_000, 2 ** 48 - 1]) {
    const mint = new IdMint((count) => new Uint8Array(count).fill(255));
    expect(creationOf(mint.mint('att', instant(ms)))).toBe(ms);
  }
});
