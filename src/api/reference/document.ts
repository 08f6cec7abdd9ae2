/** Reads the OpenAPI document in the form that the reference page shows. */
import type { OpenApiDocument } from '#src/api/contract/openapi.ts';

export interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly format?: string;
  readonly description?: string;
  readonly default?: unknown;
  readonly examples?: readonly unknown[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly additionalProperties?: Schema | boolean;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly exclusiveMinimum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly maxItems?: number;
  readonly maxProperties?: number;
}

export interface Parameter {
  readonly name: string;
  readonly in: string;
  readonly required?: boolean;
  readonly description?: string;
  readonly style?: string;
  readonly schema?: Schema;
}

interface Reference {
  readonly $ref?: string;
}

interface MediaType {
  readonly schema?: Schema;
  readonly examples?: Readonly<
    Record<string, Reference & { readonly summary?: string; readonly value?: unknown }>
  >;
}

interface Header extends Reference {
  readonly description?: string;
  readonly required?: boolean;
  readonly schema?: Schema;
}

/** An example of a body. */
export interface Example {
  readonly summary: string;
  readonly value: unknown;
}

export interface Content {
  readonly description?: string;
  readonly required?: boolean;
  readonly content?: Readonly<Record<string, MediaType>>;
  readonly headers?: Readonly<Record<string, Header>>;
}

interface Described {
  readonly operationId?: string;
  readonly tags?: readonly string[];
  readonly summary?: string;
  readonly description?: string;
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: Content;
  readonly responses?: Readonly<Record<string, Content>>;
}

export interface Operation {
  readonly id: string;
  readonly tag: string;
  readonly method: string;
  readonly path: string;
  readonly summary: string;
  readonly description: string;
  readonly parameters: readonly Parameter[];
  readonly body: Content | null;
  readonly answers: readonly Answer[];
  readonly errors: readonly ErrorMeaning[];
}

export interface Answer extends Content {
  /** Such as 201, or 2XX for what a receiver answers. */
  readonly status: string;
}

export interface ErrorMeaning {
  readonly code: string;
  readonly status: number;
  readonly meaning: string;
}

const JSON_CONTENT = 'application/json';
const FIRST_ERROR_STATUS = 400;
/** The description of an error answer has a paragraph for each code. */
const CODE = /^`(\w+)`: (.+)$/s;

export class ReferenceDocument {
  readonly title: string;
  readonly description: string;
  readonly operations: readonly Operation[];
  readonly webhooks: readonly Operation[];
  readonly #components: Readonly<Record<string, Readonly<Record<string, object>>>>;

  constructor(document: OpenApiDocument) {
    this.title = document.info.title;
    this.description = document.info.description ?? '';
    this.#components = (document.components ?? {}) as Readonly<
      Record<string, Readonly<Record<string, object>>>
    >;
    this.operations = operationsOf(document.paths);
    this.webhooks = operationsOf(document.webhooks);
  }

  get tags(): readonly string[] {
    return [...new Set(this.operations.map(({ tag }) => tag))];
  }

  /** Every error code of every operation, in the order of the statuses. */
  get errors(): readonly (ErrorMeaning & { readonly operations: readonly Operation[] })[] {
    const byCode = new Map(
      this.operations.flatMap(({ errors }) => errors.map((error) => [error.code, error] as const)),
    );
    return [...byCode.values()]
      .toSorted((a, b) => a.status - b.status)
      .map((error) => ({
        ...error,
        operations: this.operations.filter(({ errors }) => errors.some(({ code }) => code === error.code)),
      }));
  }

  /** Follows references. What stands beside a reference, such as the description of a field, wins over its target. */
  resolve<T extends Reference>(value: T): T {
    const { $ref, ...own } = value;
    if ($ref === undefined) return value;
    const [, , kind = '', name = ''] = $ref.split('/');
    const target = this.#components[kind]?.[name];
    if (target === undefined) throw new Error(`The document has no ${$ref}.`);
    return this.resolve({ ...target, ...own } as unknown as T);
  }

  schemaOf({ content }: Content): Schema | null {
    const schema = content?.[JSON_CONTENT]?.schema;
    return schema === undefined ? null : this.resolve(schema);
  }

  /** The examples of a body. The first one is the simplest. */
  examplesOf(body: Content): readonly Example[] {
    const examples = Object.values(body.content?.[JSON_CONTENT]?.examples ?? {});
    return examples.map((example) => {
      const { summary = '', value } = this.resolve(example);
      return { summary, value };
    });
  }

  /** The headers of an answer, in the form of parameters. */
  headersOf({ headers }: Content): readonly Parameter[] {
    return Object.entries(headers ?? {}).map(([name, header]) => ({
      name,
      in: 'header',
      ...this.resolve(header),
    }));
  }

  /** The value that samples have for a parameter. */
  exampleOf({ name, schema = {} }: Parameter): unknown {
    const { examples, const: constant, enum: values, default: usual } = this.resolve(schema);
    const value = examples?.[0] ?? constant ?? values?.[0] ?? usual;
    if (value === undefined) throw new Error(`The parameter ${name} has no example.`);
    return value;
  }
}

function operationsOf(paths: object | undefined): readonly Operation[] {
  return Object.entries(paths ?? {}).flatMap(([path, item]) =>
    Object.entries(item as Readonly<Record<string, Described>>).map(([method, described]) =>
      operationOf(path, method, described),
    ),
  );
}

function operationOf(path: string, method: string, described: Described): Operation {
  const answers = Object.entries(described.responses ?? {}).map(([status, answer]) => ({
    ...answer,
    status,
  }));
  const isError = ({ status }: Answer) => Number(status) >= FIRST_ERROR_STATUS;
  return {
    id: described.operationId ?? path,
    tag: described.tags?.[0] ?? '',
    method: method.toUpperCase(),
    path,
    summary: described.summary ?? path,
    description: described.description ?? '',
    parameters: described.parameters ?? [],
    body: described.requestBody ?? null,
    answers: answers.filter((answer) => !isError(answer)),
    errors: answers.filter(isError).flatMap(errorsOf),
  };
}

function errorsOf({ status, description = '' }: Answer): readonly ErrorMeaning[] {
  return description.split(/\n\n+/).flatMap((paragraph) => {
    const [, code, meaning] = CODE.exec(paragraph) ?? [];
    return code === undefined || meaning === undefined ? [] : [{ code, status: Number(status), meaning }];
  });
}
