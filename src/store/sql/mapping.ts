/**
 * Says once how the fields of an object become the columns of a table. A column has the name of its field in snake
 * case. The compiler checks that every field of the object is listed, and that its codec accepts it.
 *
 * Values are not checked when they are read, because these tables hold only what this program wrote.
 */

import { RecentCache } from '#src/domain/recent-cache.ts';

/** Texts of JSON whose objects are kept, and how long such a text may be. */
const PARSED_MAX = 1_000;
const PARSED_CHARACTERS_MAX = 512;

export type Parameter = string | number | Uint8Array | null;

export type Row = Readonly<Record<string, Parameter>>;

/** The values of one row, in the order of the columns. */
export type Values = readonly Parameter[];

/** How a field is stored: in one column, or in several if it is an object (`part`). */
export interface Field<in Value> {
  readonly columns: readonly Column<Value>[];
  /** Reads the field from the values of its columns, which begin at `position`. */
  readonly decode: (values: Values, position: number) => unknown;
}

interface Column<in Value> {
  /** Null: the name follows from that of the field. */
  readonly name: string | null;
  /** A fixed column is written once, when the row is inserted. */
  readonly isFixed: boolean;
  readonly encode: (value: Value) => Parameter;
}

type Fields<T> = { readonly [Name in keyof T]-?: Field<T[Name]> };

/** A field that is stored in one column. */
export function field<Value>(
  encode: (value: Value) => Parameter,
  decode: (stored: Parameter) => unknown,
): Field<Value> {
  return {
    columns: [{ name: null, isFixed: false, encode }],
    decode: (values, position) => decode(values[position] as Parameter),
  };
}

const plainEncode = (value: Parameter) => value;

export const plain = field<Parameter>(plainEncode, (stored) => stored);

/** Most rows have one of few policies, and share the object. Nobody changes it. */
const parsed = new RecentCache<string, object>(PARSED_MAX);

function parse(text: string): object {
  if (text.length > PARSED_CHARACTERS_MAX) return JSON.parse(text) as object;
  const known = parsed.get(text);
  if (known !== undefined) return known;
  const value = JSON.parse(text) as object;
  parsed.set(text, value);
  return value;
}

/** Null stays null. */
export const json = field<object | null>(
  (value) => (value === null ? null : JSON.stringify(value)),
  (stored) => (stored === null ? null : parse(stored as string)),
);

/** True is stored as 1, and false as 0. */
export const flag = field<boolean>(Number, (stored) => stored === 1);

/** A field whose column has another name. */
export function column<Value>(name: string, field: Field<Value>): Field<Value> {
  return { ...field, columns: field.columns.map((one) => ({ ...one, name })) };
}

export function fixed<Value>(field: Field<Value>): Field<Value> {
  return { ...field, columns: field.columns.map((one) => ({ ...one, isFixed: true })) };
}

/**
 * A field that is an object with columns of its own. A variant of a union lacks some of the fields, and null is
 * stored for them. `decode` makes the variant from all fields.
 */
export function part<T extends object>(
  fields: Fields<T>,
  decode: (stored: T) => unknown = (stored) => stored,
): Field<Partial<T>> {
  const { columns, read } = compile<Partial<T>>(fields as Fields<Partial<T>>);
  return {
    columns: columns.map((one) => ({ ...one, encode: (value) => one.encode(value) ?? null })),
    decode: (values, position) => decode(read(values, position) as T),
  };
}

/** An object that may be missing. It is null when its first column is. */
export function optional<Value>(field: Field<Value>): Field<Value | null> {
  return {
    columns: field.columns.map((one) => ({
      ...one,
      encode: (value) => (value === null ? null : one.encode(value)),
    })),
    decode: (values, position) => (values[position] === null ? null : field.decode(values, position)),
  };
}

/** Columns that a statement takes together, and their values in the same order. */
interface Selection<T> {
  readonly columns: readonly string[];
  readonly values: (object: T) => readonly Parameter[];
}

/** A mapping has all columns, in the order of the fields. The first is part of the key, and so is never null. */
export interface Mapping<T> extends Selection<T> {
  /** The columns that a replacement of the row writes. */
  readonly mutable: Selection<T>;
  readonly from: (row: Row) => T;
  /** Reads a row whose columns begin at `position`. Null: an outer join found none. */
  readonly at: (values: Values, position: number) => T | null;
  readonly joined: (alias: string) => Joined<T>;
  readonly only: <Name extends keyof T>(...names: readonly Name[]) => Selection<Pick<T, Name>>;
  readonly without: <Name extends keyof T>(...names: readonly Name[]) => Mapping<Omit<T, Name>>;
}

/** The columns of a table under an alias, for a query that joins it to others. */
export interface Joined<T> {
  readonly columns: string;
  readonly from: (row: Row) => T;
  /** Null: an outer join found none. */
  readonly find: (row: Row) => T | null;
}

export function mapping<T extends object>(fields: Fields<T>): Mapping<T> {
  const { columns, read } = compile(fields);
  const names = columns.map(({ name }) => name);
  const at = (values: Values, position: number) =>
    values[position] === null ? null : read(values, position);
  const some = <Part extends object>(isWanted: (name: string) => boolean) =>
    mapping<Part>(
      Object.fromEntries(Object.entries(fields).filter(([name]) => isWanted(name))) as Fields<Part>,
    );
  return {
    ...selection(columns),
    mutable: selection(columns.filter(({ isFixed }) => !isFixed)),
    from: (row) => read(valuesOf(row, names), 0),
    at,
    joined: (alias) => {
      const aliased = names.map((name) => `${alias}_${name}`);
      return {
        columns: names.map((name) => `${alias}.${name} AS ${alias}_${name}`).join(', '),
        from: (row) => read(valuesOf(row, aliased), 0),
        find: (row) => at(valuesOf(row, aliased), 0),
      };
    },
    only: (...wanted: readonly PropertyKey[]) => some((name) => wanted.includes(name)),
    without: (...unwanted: readonly PropertyKey[]) => some((name) => !unwanted.includes(name)),
  };
}

function selection<T extends object>(columns: readonly ObjectColumn<T>[]): Selection<T> {
  return {
    columns: columns.map(({ name }) => name),
    values: (object) =>
      columns.map(({ plainField, encode }) =>
        plainField === null ? encode(object) : (object[plainField] as Parameter),
      ),
  };
}

/** A column of an object. */
interface ObjectColumn<T> extends Column<T> {
  readonly name: string;
  /** The field, if its value is stored as it is. These are the most, and a call for each costs a third of the time. */
  readonly plainField: keyof T | null;
}

function valuesOf(row: Row, names: readonly string[]): Values {
  return names.map((name) => row[name] as Parameter);
}

interface FieldReader {
  readonly name: string;
  readonly offset: number;
  /** Null for plain fields. They are the most, and a call for each costs a tenth of the time. */
  readonly decode: Field<never>['decode'] | null;
}

/** The columns of all fields, and a function that reads an object from their values. */
function compile<T extends object>(fields: Fields<T>) {
  const columns: ObjectColumn<T>[] = [];
  const readers: FieldReader[] = [];
  for (const [name, field] of Object.entries(fields) as [keyof T & string, Field<unknown>][]) {
    readers.push({
      name,
      offset: columns.length,
      decode: field.decode === plain.decode ? null : field.decode,
    });
    for (const { encode, ...one } of field.columns) {
      columns.push({
        ...one,
        name: one.name ?? snakeCase(name),
        encode: (object) => encode(object[name]),
        plainField: encode === plainEncode ? name : null,
      });
    }
  }
  // Copying an object that already has all fields is faster than adding them one by one.
  const empty = Object.fromEntries(readers.map(({ name }) => [name, null]));
  const read = (values: Values, position: number): T => {
    const object: Record<string, unknown> = { ...empty };
    for (const { name, offset, decode } of readers) {
      const at = position + offset;
      object[name] = decode === null ? values[at] : decode(values, at);
    }
    return object as T;
  };
  return { columns, read };
}

function snakeCase(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
