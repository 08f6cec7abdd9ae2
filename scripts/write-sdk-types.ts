/**
 * Writes sdk/src/api-types.ts from docs/openapi.json: one interface for each schema, with the same name, and one for the
 * query of each list. A test keeps the file current. The generator supports only the features that the document uses.
 * Any other feature is an error, so that a type is never silently too wide.
 */
import { readFileSync, writeFileSync } from 'node:fs';

/** The parts of the document that are read. */
export interface ApiDocument {
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
}
interface Operation {
  readonly operationId: string;
  readonly parameters?: readonly Parameter[];
}
interface Parameter {
  readonly in: string;
  readonly name: string;
  readonly description?: string;
  readonly schema: Schema;
}
interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly Schema[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly items?: Schema;
  readonly additionalProperties?: Schema;
  readonly description?: string;
  readonly default?: unknown;
  readonly examples?: readonly unknown[];
}

const HEAD = `/**
 * The requests and answers of the service. \`npm run sdk:types\` writes this file from docs/openapi.json. Do not edit it.
 *
 * A fixed set of values is a union, so that an editor offers the values and a \`switch\` can be checked. A newer service
 * may send other values, so keep a \`default\`. A field that is \`undefined\` is not sent. On a change, \`null\` clears a
 * field.
 */
`;

const LINE_LENGTH_MAX = 110;

const REFERENCE = '#/components/schemas/';

export function sdkTypes(document: ApiDocument): string {
  const objects = Object.entries(document.components.schemas).map(([name, schema]) =>
    interfaceOf(name, schema),
  );
  const queries = Object.values(document.paths)
    .flatMap((path) => Object.values(path))
    .map(({ operationId, parameters = [] }) => ({
      name: `${capitalise(operationId)}Query`,
      parameters: parameters.filter((parameter) => parameter.in === 'query'),
    }))
    .filter(({ parameters }) => parameters.length > 0)
    .map(({ name, parameters }) => interfaceOf(name, queryObject(parameters)));
  return [HEAD, ...objects, ...queries].join('\n');
}

/** The description of a parameter is beside its schema. */
function queryObject(parameters: readonly Parameter[]): Schema {
  const properties = parameters.map(({ name, description, schema }): readonly [string, Schema] => [
    name,
    description === undefined ? schema : { ...schema, description },
  ]);
  return { type: 'object', properties: Object.fromEntries(properties) };
}

function interfaceOf(name: string, schema: Schema): string {
  return `${comment(schema, '')}export interface ${name} ${objectType(schema, '')}\n`;
}

function objectType({ properties = {}, required = [] }: Schema, indent: string): string {
  const inner = `${indent}  `;
  const lines = Object.entries(properties).map(([name, schema]) => {
    const type = typeOf(schema, inner);
    const field = required.includes(name) ? `${name}: ${type}` : `${name}?: ${type} | undefined`;
    return `${comment(schema, inner)}${breakUnion(`${inner}readonly ${field};`, inner)}\n`;
  });
  return `{\n${lines.join('')}${indent}}`;
}

function typeOf(schema: Schema, indent: string): string {
  if (schema.$ref !== undefined) return referenced(schema.$ref);
  if (schema.anyOf !== undefined) return schema.anyOf.map((each) => typeOf(each, indent)).join(' | ');
  if (schema.const !== undefined) return literal(schema.const);
  if (schema.enum !== undefined) return schema.enum.map(literal).join(' | ');
  const { type } = schema;
  if (typeof type === 'object')
    return type.map((each) => typeOf({ ...schema, type: each }, indent)).join(' | ');
  switch (type ?? 'unknown') {
    case 'null':
    case 'string':
    case 'boolean':
    case 'number':
      return `${type}`;
    case 'integer':
      return 'number';
    case 'array':
      return `readonly ${elementType(schema, indent)}[]`;
    case 'object':
      return schema.additionalProperties === undefined
        ? objectType(schema, indent)
        : `Readonly<Record<string, ${typeOf(schema.additionalProperties, indent)}>>`;
    default:
      throw new Error(`The SDK's types know nothing of ${JSON.stringify(schema)}.`);
  }
}

function elementType({ items }: Schema, indent: string): string {
  if (items === undefined) throw new Error('An array says what it holds.');
  const type = typeOf(items, indent);
  return type.includes(' ') ? `(${type})` : type;
}

function referenced(reference: string): string {
  return reference.slice(REFERENCE.length);
}

function literal(value: unknown): string {
  if (value === null) return 'null';
  if (typeof value !== 'string')
    throw new Error(`Only texts are expected as values: ${JSON.stringify(value)}.`);
  return `'${value}'`;
}

/** The values of a fixed set are in the type, so they need no example. */
function comment(schema: Schema, indent: string): string {
  const { description, enum: values, const: only, default: usual, examples } = schema;
  const [example] = values === undefined && only === undefined ? (examples ?? []) : [];
  const said = [
    description,
    usual === undefined ? undefined : `The default is ${JSON.stringify(usual)}.`,
    typeof example === 'string' ? `For example \`${example}\`.` : undefined,
  ];
  const text = said
    .filter((part) => part !== undefined)
    .join(' ')
    .replaceAll('*/', '*\\/');
  if (text === '') return '';
  const line = `${indent}/** ${text} */`;
  if (line.length <= LINE_LENGTH_MAX) return `${line}\n`;
  const lines = wrap(text, LINE_LENGTH_MAX - indent.length - ' * '.length);
  return `${indent}/**\n${lines.map((each) => `${indent} * ${each}\n`).join('')}${indent} */\n`;
}

function wrap(text: string, lengthMax: number): readonly string[] {
  const lines: string[] = [];
  for (const word of text.split(' ')) {
    const last = lines.at(-1);
    if (last === undefined || last.length + 1 + word.length > lengthMax) lines.push(word);
    else lines[lines.length - 1] = `${last} ${word}`;
  }
  return lines;
}

/** Formats a union that is too long for a line as the formatter does. */
function breakUnion(line: string, indent: string): string {
  if (line.length <= LINE_LENGTH_MAX || line.includes('\n')) return line;
  const [head = '', ...rest] = line.split(': ');
  const parts = rest.join(': ').split(' | ');
  return [`${head}:`, ...parts.map((part) => `${indent}  | ${part}`)].join('\n');
}

function capitalise(name: string): string {
  return name.charAt(0).toUpperCase() + name.slice(1);
}

if (import.meta.main) {
  const document = readFileSync(new URL('../docs/openapi.json', import.meta.url), 'utf8');
  const path = new URL('../sdk/src/api-types.ts', import.meta.url);
  writeFileSync(path, sdkTypes(JSON.parse(document) as ApiDocument));
}
