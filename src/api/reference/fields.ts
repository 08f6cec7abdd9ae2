/** The fields of parameters, bodies and answers: what each is, and its list on the page. */
import type { Parameter, ReferenceDocument, Schema } from './document.ts';
import { anchor, inline, prose, text } from './html.ts';

export interface Field {
  readonly name: string;
  /** The type in words, such as "list of string". */
  readonly type: string;
  readonly isRequired: boolean;
  readonly isNullable: boolean;
  readonly description: string;
  /** Bounds, default and example, each a sentence. */
  readonly facts: readonly string[];
  readonly values: readonly string[];
  readonly fields: readonly Field[];
}

/** zod writes the bounds of safe integers. They say nothing about the field. */
const UNBOUNDED = Number.MAX_SAFE_INTEGER;

export function fieldsOf(document: ReferenceDocument, schema: Schema): readonly Field[] {
  const { properties = {}, required = [] } = schema;
  return Object.entries(properties).map(([name, field]) =>
    fieldOf(document, name, field, required.includes(name)),
  );
}

export function parameterField(document: ReferenceDocument, parameter: Parameter): Field {
  const { name, required = false, description, schema = {} } = parameter;
  const described = description === undefined ? schema : { ...schema, description };
  return fieldOf(document, name, described, required);
}

function fieldOf(document: ReferenceDocument, name: string, given: Schema, isRequired: boolean): Field {
  const { schema, isNullable } = withoutNull(document, given);
  return {
    name,
    type: typeOf(document, schema),
    isRequired,
    isNullable,
    description: given.description ?? schema.description ?? '',
    facts: factsOf(schema),
    values: (schema.enum ?? []).filter((value) => value !== null).map(String),
    fields: fieldsOf(document, schema.items === undefined ? schema : document.resolve(schema.items)),
  };
}

function withoutNull(document: ReferenceDocument, given: Schema) {
  const whole = document.resolve(given);
  const options = (whole.anyOf ?? whole.oneOf ?? []).map((option) => document.resolve(option));
  const [only, ...others] = options.filter(({ type }) => type !== 'null');
  const types = [whole.type ?? []].flat();
  const isNullable = options.some(({ type }) => type === 'null') || types.includes('null');
  if (only !== undefined && others.length === 0) {
    const { anyOf: _anyOf, oneOf: _oneOf, ...own } = whole;
    return { schema: { ...only, ...own }, isNullable };
  }
  return { schema: whole, isNullable };
}

function typeOf(document: ReferenceDocument, given: Schema): string {
  const schema = document.resolve(given);
  if (schema.const !== undefined) return `always ${JSON.stringify(schema.const)}`;
  const options = schema.anyOf ?? schema.oneOf;
  if (options !== undefined) return options.map((option) => typeOf(document, option)).join(' or ');
  if (schema.items !== undefined) return `list of ${typeOf(document, schema.items)}`;
  const types = [schema.type ?? 'any'].flat().filter((type) => type !== 'null');
  if (types.includes('object') && typeof schema.additionalProperties === 'object') {
    return `map of string to ${typeOf(document, schema.additionalProperties)}`;
  }
  return schema.format === undefined ? types.join(' or ') : `${types.join(' or ')}, ${schema.format}`;
}

function factsOf(schema: Schema): readonly string[] {
  const { minimum, maximum, exclusiveMinimum, minLength, maxLength, maxItems, maxProperties } = schema;
  // A choice is listed, so it needs no example.
  const example = schema.enum === undefined ? schema.examples?.[0] : undefined;
  const facts = [
    minimum !== undefined && minimum > -UNBOUNDED && `At least ${number(minimum)}.`,
    exclusiveMinimum !== undefined && `Above ${number(exclusiveMinimum)}.`,
    maximum !== undefined && maximum < UNBOUNDED && `At most ${number(maximum)}.`,
    minLength !== undefined && minLength > 0 && `At least ${count(minLength, 'character')}.`,
    maxLength !== undefined && `At most ${count(maxLength, 'character')}.`,
    maxItems !== undefined && `At most ${count(maxItems, 'item')}.`,
    maxProperties !== undefined && `At most ${count(maxProperties, 'entry', 'entries')}.`,
    schema.default !== undefined && `Default: \`${written(schema.default)}\`.`,
    example !== undefined && `Example: \`${written(example)}\`.`,
  ];
  return facts.filter((fact) => fact !== false);
}

function written(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

function number(value: number): string {
  return value.toLocaleString('en');
}

function count(value: number, one: string, many = `${one}s`): string {
  return `${number(value)} ${value === 1 ? one : many}`;
}

export interface FieldListOptions {
  /** The beginning of the ids of the fields. */
  readonly place: string;
  /** Whether the reader writes these fields. Whether a field is required matters to writers only. */
  readonly isRequest: boolean;
  /** Further attributes of each item, for the script of the page. */
  readonly attributes?: (field: Field) => string;
}

export function renderFields(fields: readonly Field[], options: FieldListOptions): string {
  if (fields.length === 0) return '';
  const items = fields.map((field) => renderField(field, options));
  return `<ul class="fields">${items.join('')}</ul>`;
}

function renderField(field: Field, options: FieldListOptions): string {
  const { name, type, isRequired, isNullable, description, facts, values } = field;
  const id = anchor(options.place, name);
  const notes = [
    `<span class="type">${text(type)}</span>`,
    options.isRequest && isRequired ? '<span class="required">required</span>' : '',
    !options.isRequest && isNullable ? '<span class="type">or null</span>' : '',
  ];
  return `<li id="${id}"${options.attributes?.(field) ?? ''}>
<div class="name"><a href="#${id}"><code>${text(name)}</code></a> ${notes.join(' ')}</div>
${prose(description)}${renderValues(values)}${facts.length === 0 ? '' : `<p class="facts">${inline(facts.join(' '))}</p>`}
${renderNested(field, { ...options, place: id })}</li>`;
}

function renderValues(values: readonly string[]): string {
  if (values.length === 0) return '';
  const list = values.map((value) => `<code>${text(value)}</code>`).join(', ');
  return `<p class="facts">One of ${list}.</p>`;
}

function renderNested({ name, fields }: Field, options: FieldListOptions): string {
  if (fields.length === 0) return '';
  const { attributes: _attributes, ...nested } = options;
  return `<details><summary>${count(fields.length, 'field')} of <code>${text(name)}</code></summary>${renderFields(fields, nested)}</details>`;
}
