/** One API call, from the raw request to what a handler needs. */
import { isUtf8 } from 'node:buffer';
import { createHash } from 'node:crypto';
import type { FastifyRequest } from 'fastify';
import type { MakeReceipt, RenderedAnswer } from '#src/commands/command.ts';
import {
  IDEMPOTENCY_KEY_CHARACTERS_MAX,
  type Idempotency,
  type IdempotentAnswer,
  type IdempotentRequest,
} from '#src/commands/idempotency.ts';
import { Refusal } from '#src/domain/errors.ts';
import { parseId } from '#src/domain/id.ts';
import {
  firstFaultIn,
  type JsonBounds,
  JsonSyntaxError,
  readJson,
  readJsonInSlices,
  type YieldToEventLoop,
} from '#src/domain/json.ts';
import { isOlder } from '#src/domain/program-version.ts';
import type { Tenant } from '#src/ports/control-store.ts';
import { longIdempotencyHeaderText } from '#src/texts/field-fault-text.ts';
import { type ObjectKind, wrongIdText } from '#src/texts/id-fault-text.ts';
import {
  EMPTY_BODY_TEXT,
  jsonSyntaxText,
  NOT_UTF8_TEXT,
  notAnObjectText,
  TOO_MANY_MEMBERS_TEXT,
} from '#src/texts/json-fault-text.ts';
import type { ReadAnswer } from './answer-budget.ts';
import { SMALL_BODY_BYTES_MAX } from './body-budget.ts';
import { BODY_FIELDS } from './contract/bodies.ts';
import { FIELDS_SINCE, type Operation } from './contract/operations.ts';
import { type FieldPath, fieldsOf, findIgnored, findIgnoredParameters } from './ignored-fields.ts';
import { wantsStrict } from './prefer.ts';
import type { JsonObject } from './read-bodies.ts';
import { unknownField } from './unknown-field.ts';

/** Calls `read` when the budget allows the answer, and again if the answer is long. */
export type AnswerWithinBudget = (read: ReadAnswer) => Promise<RenderedAnswer>;

const NO_BODY = Buffer.alloc(0);

/** The texts in the path of a request. */
export type PathNames = Readonly<Partial<Record<'id' | 'name' | 'attempt_no', string>>>;

/** A class, because each object literal with a getter would get its own hidden class in the engine. */
export class Call {
  readonly tenant: Tenant;
  /** The fields of the body that have no effect. For a request that reads, these are parameters of its query. */
  readonly ignored: readonly FieldPath[];
  /** A strict request is refused if it has an ignored field. */
  readonly isStrict: boolean;
  /** Answers a request that reads from the store, within the budget of answers. */
  readonly answer: AnswerWithinBudget;
  readonly #operation: Operation;
  readonly #body: JsonObject;
  readonly #names: PathNames;
  readonly #url: string;
  readonly #idempotency: Idempotency;
  readonly #idempotent: IdempotentRequest | null;

  /** Only the query of `url` is used, and it is parsed on demand. */
  constructor(
    operation: Operation,
    tenant: Tenant,
    names: PathNames,
    url: string,
    body: JsonObject,
    isStrict: boolean,
    answer: AnswerWithinBudget,
    idempotency: Idempotency,
    idempotent: IdempotentRequest | null,
  ) {
    this.tenant = tenant;
    this.ignored =
      operation.method === 'GET'
        ? findIgnoredParameters(operation, splitUrl(url)[1])
        : findIgnored(body, fieldsOf(operation));
    this.isStrict = isStrict;
    this.answer = answer;
    this.#operation = operation;
    this.#body = body;
    this.#names = names;
    this.#url = url;
    this.#idempotency = idempotency;
    this.#idempotent = idempotent;
  }

  /**
   * Returns the fields of the body, and refuses a strict request with an ignored field. A handler calls this before it
   * checks any field, and after it has found the object and checked its state.
   */
  fields(): JsonObject {
    const [first] = this.ignored;
    if (this.isStrict && first !== undefined) throw unknownField(this.#operation, first);
    return this.#body;
  }

  /** The known fields of the body that have a value. */
  get givenFields(): readonly string[] {
    return [...fieldsOf(this.#operation).keys()].filter((name) => isGiven(this.#body[name]));
  }

  /** The version of the program that began to have all that this call uses; null if every version has it. */
  get since(): string | null {
    const known = fieldsOf(this.#operation);
    const used = Object.entries(FIELDS_SINCE).filter(
      ([name]) => isGiven(this.#body[name]) && known.has(name),
    );
    return used.reduce<string | null>(
      (newest, [, since]) => (newest === null || isOlder(newest, since) ? since : newest),
      this.#operation.since ?? null,
    );
  }

  get query(): URLSearchParams {
    const [, search] = splitUrl(this.#url);
    return new URLSearchParams(search);
  }

  /** Parses the id in the path. A text that is not an id is an object that does not exist. */
  id<K extends ObjectKind>(kind: K): NonNullable<ReturnType<typeof parseId<K>>> {
    const { id = '' } = this.#names;
    const parsed = parseId(kind, id);
    if (parsed === null) throw new Refusal('not_found', null, wrongIdText(id, kind, 'The id'));
    return parsed;
  }

  /** The name in the path, as it was sent. */
  get name(): string {
    return this.#names.name ?? '';
  }

  /** The number of an attempt in the path. A text that is no such number is an attempt that does not exist. */
  get attemptNo(): number {
    const { attempt_no: text = '' } = this.#names;
    if (!/^[1-9]\d{0,5}$/.test(text)) throw new Refusal('not_found');
    return Number(text);
  }

  /** Runs the change once per `Idempotency-Key`. */
  once(act: (keep: MakeReceipt) => Promise<RenderedAnswer>): Promise<IdempotentAnswer> {
    return this.#idempotency.once(this.tenant.partition, this.#idempotent, act);
  }
}

/** Builds the call of a request to `/v1`. */
export function callOf(
  request: FastifyRequest,
  operation: Operation,
  tenant: Tenant,
  answer: AnswerWithinBudget,
  idempotency: Idempotency,
  pause: YieldToEventLoop,
): Call | Promise<Call> {
  const raw = rawBody(request);
  const names = request.params as PathNames;
  const { url } = request;
  const build = (body: JsonObject) => {
    const idempotent = operation.idempotent
      ? readIdempotency(request.headers['idempotency-key'], `${request.method} ${splitUrl(url)[0]}`, raw)
      : null;
    const isStrict = operation.method !== 'GET' && wantsStrict(request.headers.prefer);
    return new Call(operation, tenant, names, url, body, isStrict, answer, idempotency, idempotent);
  };
  const body =
    operation.body === null
      ? readUnusedBody(raw, pause)
      : readBody(raw, { required: operation.body.required, acceptsPart: true }, pause);
  return body instanceof Promise ? body.then(build) : build(body);
}

function isGiven(value: unknown): boolean {
  return value !== undefined && value !== null;
}

export function rawBody({ body }: FastifyRequest): Buffer {
  return Buffer.isBuffer(body) ? body : NO_BODY;
}

/**
 * Parses the body as JSON, for any content type. A large body is parsed in slices, and only its small parts are
 * guaranteed to be complete. `acceptsPart` says whether that is enough. A small body is parsed without a
 * promise, which would cost more than the parsing.
 */
export function readBody(
  raw: Buffer,
  { required, acceptsPart }: { readonly required: boolean; readonly acceptsPart: boolean },
  pause: YieldToEventLoop,
): JsonObject | Promise<JsonObject> {
  if (raw.length === 0 && !required) return {};
  if (!isUtf8(raw)) throw invalidJson(NOT_UTF8_TEXT);
  const whole = raw.toString();
  const text = whole.startsWith(BYTE_ORDER_MARK) ? whole.slice(1) : whole;
  const refuse = (error: unknown) => refuseJson(error, text);
  if (raw.length > SMALL_BODY_BYTES_MAX) {
    return readJsonInSlices(text, BOUNDS, pause).then(({ value, isWhole }) => {
      if (!isWhole && !acceptsPart) throw new Refusal('payload_too_large', null, TOO_MANY_MEMBERS_TEXT);
      return objectOf(value);
    }, refuse);
  }
  try {
    return objectOf(readJson(text));
  } catch (error) {
    return refuse(error);
  }
}

/** Reads the body of an operation that takes none. It need not be JSON, and then it has no fields. */
function readUnusedBody(raw: Buffer, pause: YieldToEventLoop): JsonObject | Promise<JsonObject> {
  try {
    const body = readBody(raw, { required: false, acceptsPart: true }, pause);
    return body instanceof Promise ? body.catch(withoutFields) : body;
  } catch (error) {
    return withoutFields(error);
  }
}

function withoutFields(error: unknown): JsonObject {
  if (error instanceof Refusal) return {};
  throw error;
}

const BYTE_ORDER_MARK = '\ufeff';

/**
 * The bounds of a large body. No object of the API is nested deeper, and known fields are kept among any number
 * of unknown ones. So many headers or labels are refused in any case.
 */
const BOUNDS: JsonBounds = { membersMax: 10_000, depthMax: 8, always: BODY_FIELDS };

function objectOf(value: unknown): JsonObject {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw invalidJson(notAnObjectText(value));
  }
  return value as JsonObject;
}

function refuseJson(error: unknown, text: string): never {
  if (!(error instanceof SyntaxError)) throw error;
  if (text.trim() === '') throw invalidJson(EMPTY_BODY_TEXT);
  // A large text knows the position already, so that it is not read twice.
  const position = error instanceof JsonSyntaxError ? error.position : firstFaultIn(text);
  throw invalidJson(jsonSyntaxText(text, position));
}

function invalidJson(message: string): Refusal {
  return new Refusal('invalid_json', null, message);
}

/** `operation` is the method and path. Returns null for a request without a key. */
export function readIdempotency(
  key: string | readonly string[] | undefined,
  operation: string,
  raw: Uint8Array | string,
): IdempotentRequest | null {
  if (typeof key !== 'string' || key === '') return null;
  // Headers arrive as Latin-1, but the limit counts the characters of a key in UTF-8.
  const characters = Buffer.from(key, 'latin1').toString().length;
  if (characters > IDEMPOTENCY_KEY_CHARACTERS_MAX) {
    throw new Refusal('idempotency_key_too_long', null, longIdempotencyHeaderText(characters));
  }
  const fingerprint = createHash('sha256').update(`${operation}\n`).update(raw).digest('hex');
  return { key, fingerprint };
}

function splitUrl(url: string): readonly [path: string, search: string] {
  const at = url.indexOf('?');
  return at < 0 ? [url, ''] : [url.slice(0, at), url.slice(at + 1)];
}
