/** The rules that every answer must follow. */
import { OPERATION_DOCS } from '#src/api/contract/operation-docs.ts';
import { OPERATIONS, type OperationId } from '#src/api/contract/operations.ts';
import { ERRORS } from '#src/domain/errors.ts';
import { undocumented } from '#test/e2e/document.ts';
import type { FuzzRequest } from './fuzz-request.ts';
import type { Answer } from './raw-connection.ts';
import { UNKNOWN_FIELDS } from './unknown-fields.ts';

const REQUEST_ID = /^req_[0-7][0-9a-hjkmnp-tv-z]{25}$/;
const ERROR_MEMBERS = ['type', 'code', 'message', 'param', 'request_id'];

/** The fields that a refusal may name. */
const PARAMS: ReadonlySet<string> = new Set([
  ...Object.values(OPERATION_DOCS).flatMap(({ query }) => (query === null ? [] : Object.keys(query.shape))),
  ...Object.keys(OPERATIONS.createSchedule.body.schema.shape),
  ...Object.keys(OPERATIONS.createEndpoint.body.schema.shape),
  'Sched-Version',
]);

export class Violation extends Error {}

export function ensure(condition: boolean, what: string): asserts condition {
  if (!condition) throw new Violation(what);
}

interface ErrorEnvelope {
  readonly error: Readonly<Record<string, unknown>>;
}

/** Returns the parsed body, or null for an answer to HEAD. */
export function checkAnswer(request: FuzzRequest, answer: Answer, apiKey: string): unknown {
  const { status, headers } = answer;
  const requestId = headers.get('sched-request-id') ?? '';
  ensure(status < 500, `status ${status}`);
  ensure(REQUEST_ID.test(requestId), `Sched-Request-Id is '${requestId}' on a ${status}`);
  ensure(!mentions(answer, request.secret), 'the answer contains a planted secret');
  ensure(!mentions(answer, apiKey), 'the answer contains the API key');
  checkIgnoredFields(headers);
  if (request.kind === UNKNOWN_FIELDS) {
    ensure(headers.has('sched-ignored-fields') === status < 300, `ignored fields on a ${status}`);
    ensure(headers.has('preference-applied') === status >= 300, `a preference on a ${status}`);
  }
  if (request.method === 'HEAD') return null;

  ensure(
    headers.get('content-type')?.startsWith('application/json') === true,
    `content type ${headers.get('content-type')} on a ${status}`,
  );
  const json = parsed(answer.body);
  if (request.operation !== null) checkDocumented(request.operation, answer, json);
  if (status >= 400) checkError(json as ErrorEnvelope, status, requestId);
  else if (request.operation !== null) checkList(json);
  return json;
}

function mentions({ headers, body }: Answer, secret: string): boolean {
  return body.includes(secret) || [...headers.values()].some((value) => value.includes(secret));
}

function parsed(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString());
  } catch {
    throw new Violation(`the answer is not JSON: ${body.toString().slice(0, 200)}`);
  }
}

function checkError(json: ErrorEnvelope, status: number, requestId: string): void {
  const error = json.error ?? {};
  const shown = JSON.stringify(json).slice(0, 300);
  ensure(
    Object.keys(json).join() === 'error' && Object.keys(error).join() === ERROR_MEMBERS.join(),
    `not the envelope: ${shown}`,
  );
  const code = String(error.code);
  ensure(Object.hasOwn(ERRORS, code), `unknown code: ${shown}`);
  const row = ERRORS[code as keyof typeof ERRORS];
  ensure(row.status === status && row.type === error.type, `${status} does not fit its code: ${shown}`);
  ensure(error.request_id === requestId, `request_id differs from the header: ${shown}`);
  ensure(isMessage(error.message), `not a short message of printable characters: ${shown}`);
  const { param } = error;
  ensure(
    param === null ||
      (code === 'unknown_field' && isShownName(param)) ||
      (typeof param === 'string' && PARAMS.has(param)),
    `param is not a field: ${shown}`,
  );
}

const MESSAGE_CHARACTERS_MAX = 500;

function isMessage(text: unknown): boolean {
  return (
    typeof text === 'string' && text.length <= MESSAGE_CHARACTERS_MAX && /^[^\p{C}\p{Zl}\p{Zp}]+$/u.test(text)
  );
}

/** An unknown field is repeated, but only a part of it that can be shown. */
function isShownName(name: unknown): boolean {
  return typeof name === 'string' && name.length <= 100 && !/[\p{C}\p{Zl}\p{Zp}]/u.test(name);
}

const IGNORED_FIELD = /^(?:[\w%!~*'()-]|\.|""){1,100}$/;
const IGNORED_FIELDS_MAX = 20;

/** The names come from the request, so the header is the place where a hostile one could add to the answer. */
function checkIgnoredFields(headers: Answer['headers']): void {
  const value = headers.get('sched-ignored-fields');
  if (value === undefined) return;
  const names = value.split(', ');
  ensure(
    names.length <= IGNORED_FIELDS_MAX && names.every((name) => IGNORED_FIELD.test(name)),
    `Sched-Ignored-Fields is '${value}'`,
  );
}

/** Everything in the answer is described in `docs/openapi.json`. */
function checkDocumented(id: OperationId, { status, headers }: Answer, json: unknown): void {
  const { method, path } = OPERATIONS[id];
  const fault = undocumented(method, `/v1${path}`, status, Object.fromEntries(headers), json);
  ensure(fault === '', `not a documented answer of ${id}: ${fault}`);
}

function checkList(json: unknown): void {
  const list = json as {
    object?: string;
    data?: readonly { id: string }[];
    has_more?: boolean;
    next_cursor?: unknown;
  };
  if (list.object !== 'list' || list.data === undefined) return;
  ensure(list.data.length <= 100, 'a page of more than 100');
  ensure(list.has_more === (list.next_cursor !== null), 'has_more and next_cursor disagree');
  ensure(
    list.data.every(({ id }, i) => i === 0 || id < (list.data?.[i - 1]?.id ?? '')),
    'a list that is not newest first',
  );
}

/** Called after the answer is in the model, because an unexpected success is stored too. */
export function checkExpected({ expected }: FuzzRequest, status: number, json: unknown): void {
  if (expected === null) return;
  const error = (json as Partial<ErrorEnvelope>).error;
  const shown = `${status} ${error === undefined ? '' : JSON.stringify(error)}`;
  ensure(
    status === expected.status,
    `expected ${expected.status} ${expected.code ?? ''} ${expected.param ?? ''}, got ${shown}`,
  );
  if (expected.code === null) return;
  ensure(error?.code === expected.code, `expected ${expected.code}, got ${shown}`);
  if (expected.param !== undefined)
    ensure(error?.param === expected.param, `expected param ${expected.param}, got ${shown}`);
}
