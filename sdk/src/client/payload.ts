/** Turns `json` into the body of a delivery, and a request into its JSON. */
import { describeValue } from '../describe-value.ts';

const CONTENT_TYPE = 'content-type';
const JSON_TYPE = 'application/json';

type Fields = Readonly<Record<string, unknown>>;

/**
 * Replaces `json` by `body` and, for an inline endpoint, by a `Content-Type`. The headers of a schedule would overwrite
 * those of its endpoint profile. With a profile, the service adds `application/json` if the profile has no other type.
 */
export function withJsonBody(schedule: Fields): Fields {
  const { json, ...fields } = schedule;
  if (typeof fields.body === 'object' && fields.body !== null) {
    throw new TypeError(
      `body must be a text. It got ${describeValue(fields.body)}. For a value that JSON can express, use json.`,
    );
  }
  if (!Object.hasOwn(schedule, 'json') || (json === undefined && isPresent(fields.body))) return fields;
  if (isPresent(fields.body)) throw new TypeError('json and body are both given. Pass only one of them.');
  const body = writeJson('json', json);
  return isPresent(fields.endpoint_id)
    ? { ...fields, body }
    : { ...fields, body, headers: withJsonType(fields.headers) };
}

function withJsonType(headers: unknown): unknown {
  if (!isPresent(headers)) return { [CONTENT_TYPE]: JSON_TYPE };
  // The service says what is wrong with headers of another type.
  if (typeof headers !== 'object' || Array.isArray(headers)) return headers;
  const saysType = Object.keys(headers as object).some((name) => name.toLowerCase() === CONTENT_TYPE);
  return saysType ? headers : { ...headers, [CONTENT_TYPE]: JSON_TYPE };
}

function isPresent(value: unknown): boolean {
  return value !== undefined && value !== null;
}

/** `name` begins the sentence of an error. The value is never quoted. */
export function writeJson(name: string, value: unknown): string {
  let text: string | undefined;
  try {
    text = JSON.stringify(value);
  } catch (cause) {
    throw new TypeError(`${name} cannot be written as JSON: ${explain(value)}.`, { cause });
  }
  if (text !== undefined) return text;
  const kind = typeof value === 'object' ? 'an object whose toJSON returns nothing' : describeValue(value);
  throw new TypeError(`${name} is ${kind}, which JSON cannot express. Leave it out, or pass null.`);
}

class BigIntFound extends Error {}

/** Writes the value again to find out why it failed. */
function explain(value: unknown): string {
  try {
    JSON.stringify(value, (key, each: unknown) => {
      if (typeof each === 'bigint') throw new BigIntFound(key);
      return each;
    });
  } catch (error) {
    if (error instanceof BigIntFound) return bigIntAt(error.message);
    if (error instanceof RangeError) return 'it is nested too deeply';
  }
  return 'it contains itself, or its toJSON failed';
}

function bigIntAt(key: string): string {
  return `${key === '' ? 'it' : JSON.stringify(key)} is a BigInt. Convert it with String() or Number() first`;
}
