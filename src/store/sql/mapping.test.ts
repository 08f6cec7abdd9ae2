import { describe, expect, it } from 'vitest';
import { column, fixed, flag, json, mapping, optional, part, plain } from './mapping.ts';

interface Pet {
  readonly id: string;
  readonly isHungry: boolean;
  readonly toys: readonly string[] | null;
  readonly bornAt: number | null;
  readonly kind: string;
}

const PET = mapping<Pet>({
  id: fixed(plain),
  isHungry: flag,
  toys: json,
  bornAt: plain,
  kind: column('species', plain),
});
const TOM: Pet = { id: 'tom', isHungry: true, toys: ['ball'], bornAt: null, kind: 'cat' };

describe('a mapping', () => {
  it('names columns in snake case, in the order of the fields', () => {
    expect(PET.columns).toEqual(['id', 'is_hungry', 'toys', 'born_at', 'species']);
    expect(PET.mutable.columns).toEqual(['is_hungry', 'toys', 'born_at', 'species']);
  });

  it('gives the values of an object in the order of the columns', () => {
    expect(PET.values(TOM)).toEqual(['tom', 1, '["ball"]', null, 'cat']);
    expect(PET.mutable.values(TOM)).toEqual([1, '["ball"]', null, 'cat']);
  });

  it.each([TOM, { ...TOM, isHungry: false, toys: null, bornAt: 7 }])('reads what it stored: %j', (pet) => {
    const values = PET.values(pet);
    const row = Object.fromEntries(PET.columns.map((column, at) => [column, values[at] ?? null]));
    expect(PET.from({ ...row, other: 'ignored' })).toEqual(pet);
  });

  it('tells the columns of joined tables apart', () => {
    const joined = PET.joined('p');
    expect(joined.columns).toBe(
      'p.id AS p_id, p.is_hungry AS p_is_hungry, p.toys AS p_toys, p.born_at AS p_born_at, p.species AS p_species',
    );
    expect(
      joined.from({ p_id: 'tom', p_is_hungry: 1, p_toys: '["ball"]', p_born_at: null, p_species: 'cat' }),
    ).toEqual(TOM);
  });

  it('refuses to compile without a field, with an unknown one, or with the wrong codec', () => {
    // @ts-expect-error: `bornAt` is missing.
    mapping<Pet>({ id: plain, isHungry: flag, toys: json, kind: plain });
    // @ts-expect-error: A pet has no name.
    mapping<Pet>({ id: plain, isHungry: flag, toys: json, bornAt: plain, name: plain, kind: plain });
    // @ts-expect-error: A list is not stored as it is.
    mapping<Pet>({ id: plain, isHungry: flag, toys: plain, bornAt: plain, kind: plain });
    // @ts-expect-error: A text is not a flag.
    mapping<Pet>({ id: flag, isHungry: flag, toys: json, bornAt: plain, kind: plain });
  });
});

type Home =
  | { readonly kind: 'house'; readonly street: string }
  | { readonly kind: 'cage'; readonly number: number };

interface Owned {
  readonly id: string;
  readonly home: Home;
  readonly owner: { readonly name: string; readonly isKind: boolean } | null;
  readonly age: number;
}

interface HomeColumns {
  readonly street: string | null;
  readonly number: number;
}

const OWNED = mapping<Owned>({
  id: fixed(plain),
  home: part<HomeColumns>(
    { street: fixed(plain), number: plain },
    ({ street, number }): Home => (street === null ? { kind: 'cage', number } : { kind: 'house', street }),
  ),
  owner: optional(part<NonNullable<Owned['owner']>>({ name: column('owner_name', plain), isKind: flag })),
  age: plain,
});
const REX: Owned = {
  id: 'rex',
  home: { kind: 'house', street: 'Elm' },
  owner: { name: 'Ann', isKind: true },
  age: 3,
};
const STRAY: Owned = { id: 'stray', home: { kind: 'cage', number: 7 }, owner: null, age: 0 };

describe('an object within an object', () => {
  it('has columns of its own, each fixed or not', () => {
    expect(OWNED.columns).toEqual(['id', 'street', 'number', 'owner_name', 'is_kind', 'age']);
    expect(OWNED.mutable.columns).toEqual(['number', 'owner_name', 'is_kind', 'age']);
  });

  it('is stored as null where a variant lacks a field, and where it is missing', () => {
    expect(OWNED.values(REX)).toEqual(['rex', 'Elm', null, 'Ann', 1, 3]);
    expect(OWNED.values(STRAY)).toEqual(['stray', null, 7, null, null, 0]);
  });

  it.each([REX, STRAY])('is read as it was stored, at any position: %j', (pet) => {
    expect(OWNED.at(['before', ...OWNED.values(pet), 'after'], 1)).toEqual(pet);
  });

  it('refuses to compile without a field', () => {
    // @ts-expect-error: `isKind` is missing.
    part<NonNullable<Owned['owner']>>({ name: plain });
    mapping<Pick<Owned, 'owner'>>({
      // @ts-expect-error: An owner may be null.
      owner: part<NonNullable<Owned['owner']>>({ name: plain, isKind: flag }),
    });
  });
});

describe('some fields of a mapping', () => {
  it('have their columns and values in the order of all', () => {
    const some = OWNED.only('age', 'owner');
    expect(some.columns).toEqual(['owner_name', 'is_kind', 'age']);
    expect(some.values(REX)).toEqual(['Ann', 1, 3]);
  });

  it('can be left out', () => {
    const { owner: _, ...rest } = REX;
    const without = OWNED.without('owner');
    expect(without.columns).toEqual(['id', 'street', 'number', 'age']);
    expect(without.at(without.values(rest), 0)).toEqual(rest);
  });

  it('refuse to compile with an unknown name', () => {
    // @ts-expect-error: There is no color.
    OWNED.only('color');
    // @ts-expect-error: There is no color.
    OWNED.without('color');
  });
});

it('finds no object where an outer join found no row', () => {
  const joined = OWNED.joined('o');
  const row = Object.fromEntries(OWNED.columns.map((column) => [`o_${column}`, null]));
  expect(joined.find(row)).toBeNull();
  expect(joined.find({ ...row, o_id: 'stray', o_number: 7, o_age: 0 })).toEqual(STRAY);
  expect(OWNED.at([null, null, null, null, null, null], 0)).toBeNull();
});
