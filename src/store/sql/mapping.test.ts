import { describe, expect, it } from 'vitest';
import { column, fixed, flag, json, mapping, plain } from './mapping.ts';

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
