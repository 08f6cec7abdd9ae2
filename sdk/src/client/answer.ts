/** Reads the answer of the service: returns the object, or throws the error. */
import type { ErrorBody } from '../api-types.ts';
import { readJson } from '../json/read-json.ts';
import { errorOf, unexpectedAnswer } from './errors.ts';
import type { Answer } from './exchange.ts';

/**
 * Checks that the answer has the type `object`. Other fields are not checked: they follow the API reference, and
 * answers may gain fields at any time.
 */
export function readAnswer<T>(answer: Answer, object: string): T {
  const { status, requestId, text } = answer;
  const json = parseJson(text);
  if (status >= 200 && status < 300) {
    if (isRecord(json) && json.object === object && (object !== 'list' || isPage(json))) return json as T;
    throw unexpectedAnswer(status, requestId, `but the answer is not a ${object} of Sched. Check the url.`);
  }
  if (!isErrorBody(json)) throw unexpectedAnswer(status, requestId, explainStatus(status));
  const { type, code, message, param, request_id } = json.error;
  throw errorOf({ type, code, status, param, requestId: request_id, message });
}

function explainStatus(status: number): string {
  // A browser hides the status of a redirect that was not followed.
  const isRedirect = status === 0 || (status >= 300 && status < 400);
  return isRedirect ? 'a redirect, which is not followed. Check the url.' : 'without an error of Sched.';
}

function parseJson(text: string): unknown {
  try {
    return readJson(text);
  } catch {
    return undefined;
  }
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null;
}

function isPage({ data, has_more, next_cursor }: Readonly<Record<string, unknown>>): boolean {
  return (
    Array.isArray(data) &&
    typeof has_more === 'boolean' &&
    (next_cursor === null || typeof next_cursor === 'string')
  );
}

function isErrorBody(json: unknown): json is ErrorBody {
  if (!isRecord(json) || !isRecord(json.error)) return false;
  const { type, code, message, param, request_id } = json.error;
  return (
    [type, code, message, request_id].every((field) => typeof field === 'string') &&
    (param === null || typeof param === 'string')
  );
}
