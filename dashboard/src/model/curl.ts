/**
 * A command that repeats the request of a delivery. Values of headers and the body are secrets, so it has placeholders
 * for them. URLs and names of headers come from customers: nothing in them may end the quotes, be an option of curl or
 * confuse the reader of a terminal.
 */
export interface CurlRequest {
  readonly method: string;
  readonly url: string;
  readonly headerNames: readonly string[];
  readonly hasBody: boolean;
  readonly deliveryId: string;
  readonly idempotencyKey: string;
}

export const PLACEHOLDER = 'REPLACE_ME';
/** Characters of a header's name. Any other would end the name. */
const NAME = /^[\w!#$%&'*+.^`|~-]+$/;

/** Half of a character, which no URL can have. */
const LONE_SURROGATE = /\p{Surrogate}/u;
const REPLACED = '%EF%BF%BD';

export function curlOf(request: CurlRequest): string {
  const { method, url, headerNames, hasBody, deliveryId, idempotencyKey } = request;
  const headers = [
    ...headerNames.filter((name) => NAME.test(name)).map((name) => `${name}: ${PLACEHOLDER}`),
    // Without a value, the header is not sent. By default curl says that a body is a form.
    ...(hasBody && !headerNames.some((name) => name.toLowerCase() === 'content-type')
      ? ['Content-Type:']
      : []),
    `Idempotency-Key: ${printable(idempotencyKey)}`,
    `Sched-Delivery-Id: ${printable(deliveryId)}`,
  ];
  return [
    // curl gives brackets and braces of a URL a meaning of their own.
    `curl --globoff --request ${quoted(printable(method))} --url ${quoted(ascii(url))}`,
    ...headers.map((header) => `--header ${quoted(header)}`),
    ...(hasBody ? [`--data-binary ${quoted('@body.txt')}`] : []),
  ].join(' \\\n  ');
}

/** Nothing has a meaning inside single quotes. A single quote is written outside of them. */
export function quoted(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`;
}

/** Writes spaces, control characters and everything that is not ASCII as a URL does. */
function ascii(url: string): string {
  return url.replaceAll(/[^\x21-\x7e]/gu, (character) =>
    LONE_SURROGATE.test(character) ? REPLACED : encodeURIComponent(character),
  );
}

function printable(text: string): string {
  return text.replaceAll(/[^\x20-\x7e]/g, '?');
}
