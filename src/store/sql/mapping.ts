/**
 * Says once how the fields of an object become the columns of a table. A column has the name of its field in snake
 * case. The compiler checks that every field of the object is listed, and that its codec accepts it.
 *
 * Values are not checked when they are read, because these tables hold only what this program wrote.
 */

export type Parameter = string | number | Uint8Array | null;

export type Row = Readonly<Record<string, Parameter>>;

/** How a field is stored. */
export interface Field<in Value> {
  readonly encode: (value: Value) => Parameter;
  readonly decode: (stored: Parameter) => unknown;
  /** A fixed column is written once, when the row is inserted. */
  readonly isFixed: boolean;
  /** The name of the column, if it is not that of the field. */
  readonly column?: string;
}

type Fields<T> = { readonly [Name in keyof T]-?: Field<T[Name]> };

export const plain: Field<Parameter> = {
  encode: (value) => value,
  decode: (stored) => stored,
  isFixed: false,
};

/** Null stays null. */
export const json: Field<object | null> = {
  encode: (value) => (value === null ? null : JSON.stringify(value)),
  decode: (stored) => (stored === null ? null : JSON.parse(stored as string)),
  isFixed: false,
};

/** True is stored as 1, and false as 0. */
export const flag: Field<boolean> = {
  encode: Number,
  decode: (stored) => stored === 1,
  isFixed: false,
};

/** A field whose column has another name. */
export function column<Value>(name: string, field: Field<Value>): Field<Value> {
  return { ...field, column: name };
}

export function fixed<Value>(field: Field<Value>): Field<Value> {
  return { ...field, isFixed: true };
}

/** The columns of a table under an alias, for a query that joins it to others. */
export interface Joined<T> {
  readonly columns: string;
  readonly from: (row: Row) => T;
}

export interface Mapping<T> {
  /** All columns, in the order of the fields. */
  readonly columns: readonly string[];
  /** The columns that a replacement of the row writes. */
  readonly mutable: readonly string[];
  /** The values of `columns`. */
  readonly values: (object: T) => readonly Parameter[];
  /** The values of `mutable`. */
  readonly mutableValues: (object: T) => readonly Parameter[];
  readonly from: (row: Row) => T;
  readonly joined: (alias: string) => Joined<T>;
}

interface Column {
  readonly name: string;
  readonly column: string;
  readonly field: Field<unknown>;
}

export function mapping<T extends object>(fields: Fields<T>): Mapping<T> {
  const all = Object.entries(fields as Readonly<Record<string, Field<unknown>>>).map(
    ([name, field]): Column => ({ name, column: field.column ?? snakeCase(name), field }),
  );
  const mutable = all.filter(({ field }) => !field.isFixed);
  return {
    columns: all.map(({ column }) => column),
    mutable: mutable.map(({ column }) => column),
    values: (object) => encode(object, all),
    mutableValues: (object) => encode(object, mutable),
    from: (row) => decode<T>(row, all),
    joined: (alias) => {
      const aliased = all.map((one) => ({ ...one, column: `${alias}_${one.column}` }));
      return {
        columns: all.map(({ column }) => `${alias}.${column} AS ${alias}_${column}`).join(', '),
        from: (row) => decode<T>(row, aliased),
      };
    },
  };
}

function snakeCase(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

function encode(object: object, columns: readonly Column[]): readonly Parameter[] {
  const values = object as Readonly<Record<string, unknown>>;
  return columns.map(({ name, field }) => field.encode(values[name]));
}

function decode<T>(row: Row, columns: readonly Column[]): T {
  const object: Record<string, unknown> = {};
  for (const { name, column, field } of columns) object[name] = field.decode(row[column] as Parameter);
  return object as T;
}
