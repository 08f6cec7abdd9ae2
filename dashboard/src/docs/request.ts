/** The request of a form: its address from the parameters, its sending, and what came back. */

export interface Parameter {
  readonly in: 'path' | 'query' | 'header';
  readonly name: string;
  /** Whether the value is a list of labels, written `team=billing&region=eu`. */
  readonly isLabels: boolean;
  readonly value: string;
}

export interface Prepared {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
}

export interface Answer {
  readonly status: number;
  readonly ms: number;
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body: string;
}

const WAIT_MS_MAX = 30_000;
/** A longer answer would slow the page down. The rest is not shown. */
const SHOWN_CHARACTERS_MAX = 200_000;
/** A header value that `fetch` would refuse. */
const NOT_IN_A_HEADER = /[^\t\x20-\x7e\x80-\xff]/;

/** Thrown if a value cannot be part of a request. Its message is for the reader. */
export class UnusableValue extends Error {}

export function prepare(path: string, parameters: readonly Parameter[]): Prepared {
  const query = new URLSearchParams();
  const headers: Record<string, string> = {};
  let filled = path;
  for (const parameter of parameters) {
    const { in: place, name, value, isLabels } = parameter;
    if (place === 'path') filled = filled.replace(`{${name}}`, pathPart(name, value));
    else if (value === '') continue;
    else if (place === 'header') headers[name] = headerValue(name, value);
    else if (!isLabels) query.append(name, value);
    else for (const [label, text] of new URLSearchParams(value)) query.append(`${name}[${label}]`, text);
  }
  const search = query.toString();
  return { url: search === '' ? filled : `${filled}?${search}`, headers };
}

/** Browsers resolve `.` and `..` in a path, so the request would go elsewhere. */
function pathPart(name: string, value: string): string {
  if (value === '') throw new UnusableValue(`${name} is empty. Give the id of an object.`);
  if (/^\.{1,2}$/.test(value))
    throw new UnusableValue(`${name} cannot be "${value}". Give the id of an object.`);
  return encodeURIComponent(value);
}

function headerValue(name: string, value: string): string {
  if (NOT_IN_A_HEADER.test(value)) {
    throw new UnusableValue(
      `${name} has a character that a header cannot have. Use letters, digits and signs of ASCII.`,
    );
  }
  return value;
}

/** Cookies are not sent, so the answer is that of the key alone. */
export async function send(
  method: string,
  { url, headers }: Prepared,
  key: string,
  body: string | null,
): Promise<Answer> {
  const started = performance.now();
  const response = await fetch(url, {
    method,
    headers: {
      ...headers,
      ...(key !== '' && { Authorization: `Bearer ${headerValue('The key', key)}` }),
      ...(body !== null && { 'Content-Type': 'application/json' }),
    },
    body,
    credentials: 'omit',
    cache: 'no-store',
    redirect: 'error',
    referrerPolicy: 'no-referrer',
    signal: AbortSignal.timeout(WAIT_MS_MAX),
  });
  const text = await response.text();
  return {
    status: response.status,
    ms: Math.round(performance.now() - started),
    headers: [...response.headers],
    body: shown(text),
  };
}

function shown(text: string): string {
  const whole = pretty(text);
  if (whole.length <= SHOWN_CHARACTERS_MAX) return whole;
  return `${whole.slice(0, SHOWN_CHARACTERS_MAX)}\n… The answer is longer. Use curl to see all of it.`;
}

function pretty(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}
