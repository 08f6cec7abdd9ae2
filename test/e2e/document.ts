/**
 * Checks each answer against `docs/openapi.json`: its status, its headers, its body and the code of its error must be
 * described there, and nothing more may be in it.
 */
import { readFileSync } from 'node:fs';
import type { IncomingHttpHeaders } from 'node:http';
import { z } from 'zod';

interface Header {
  readonly $ref?: string;
  readonly required?: boolean;
}
interface Example {
  readonly summary: string;
  readonly value: object;
}
type Content = Readonly<
  Record<string, { readonly schema: Schema; readonly examples: Readonly<Record<string, Example>> }>
>;
interface Response {
  readonly headers?: Readonly<Record<string, Header>>;
  readonly content?: Content;
}
interface Operation {
  readonly operationId: string;
  readonly requestBody?: { readonly content: Content };
  readonly responses: Readonly<Record<string, Response>>;
}
type Schema = Readonly<Record<string, unknown>>;

interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: {
    readonly schemas: Readonly<Record<string, Schema>>;
    readonly examples: Readonly<Record<string, Example>>;
    readonly headers: Readonly<Record<string, Header>>;
  };
}

const text = readFileSync(new URL('../../docs/openapi.json', import.meta.url), 'utf8');
export const DOCUMENT = JSON.parse(text) as Document;

const OPERATIONS = Object.entries(DOCUMENT.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, { responses }]) => ({
    method: method.toUpperCase(),
    path: new RegExp(`^${path.replace('{id}', '[^/]+')}$`),
    responses,
  })),
);

/** The headers of the API. Others belong to HTTP. */
const OWN_HEADER = /^(?:sched-|idempotent-|preference-)/;

const validators = new Map<string, z.ZodType>();

/** Returns what is wrong with a value, or an empty text. A field that the schema does not name is wrong too. */
export function faultsOf(schema: Schema, value: unknown): string {
  const key = JSON.stringify(schema);
  const validator = validators.get(key) ?? validatorOf(schema);
  validators.set(key, validator);
  const { error } = validator.safeParse(value);
  return (error?.issues ?? []).map(({ path, message }) => `${path.join('.')}: ${message}`).join('; ');
}

function validatorOf(schema: Schema): z.ZodType {
  const closed = JSON.stringify({ ...schema, $defs: DOCUMENT.components.schemas }, (name, value: unknown) => {
    if (name === '$ref') return (value as string).replace('#/components/schemas/', '#/$defs/');
    const isObject = typeof value === 'object' && value !== null && 'properties' in value;
    const isSchema = isObject && typeof value.properties === 'object' && 'type' in value;
    return isSchema ? { ...value, additionalProperties: false } : value;
  });
  return z.fromJSONSchema(JSON.parse(closed) as Parameters<typeof z.fromJSONSchema>[0]);
}

export function undocumented(
  method: string,
  target: string,
  status: number,
  headers: IncomingHttpHeaders,
  json: unknown,
): string {
  const [path = ''] = target.split('?');
  const operation = OPERATIONS.find((each) => each.method === method && each.path.test(path));
  if (operation === undefined) return '';
  const response = operation.responses[status];
  if (response === undefined) return `the status ${status}`;
  const content = response.content?.['application/json'];
  const code = (json as { readonly error?: { readonly code: string } }).error?.code;
  if (code !== undefined && !Object.hasOwn(content?.examples ?? {}, code)) return `the code ${code}`;
  return headerFaults(response, headers) || faultsOf(content?.schema ?? {}, json);
}

function headerFaults({ headers = {} }: Response, sent: IncomingHttpHeaders): string {
  const described = new Map(
    Object.entries(headers).map(([name, header]) => [name.toLowerCase(), resolve(header)]),
  );
  const unknown = Object.keys(sent).filter((name) => OWN_HEADER.test(name) && !described.has(name));
  const missing = [...described].filter(([name, { required }]) => required && sent[name] === undefined);
  return [...unknown, ...missing.map(([name]) => `no ${name}`)].join(', ');
}

function resolve(header: Header): Header {
  const name = header.$ref?.split('/').at(-1);
  return name === undefined ? header : (DOCUMENT.components.headers[name] ?? header);
}
