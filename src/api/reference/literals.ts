/** Writes a JSON value as TypeScript, Python or JSON, so that a sample reads as a person would write it. */

interface Syntax {
  readonly scalar: (value: unknown) => string;
  readonly key: (name: string) => string;
  readonly indent: string;
  /** The text between the braces and a list on one line, such as `{ a: 1 }`. */
  readonly padding: string;
  readonly trailingComma: string;
  /** The call that turns a value into JSON text. Null if there is no such call. */
  readonly toJson: string | null;
}

const LINE_CHARACTERS_MAX = 60;

const JSON_SYNTAX: Syntax = {
  scalar: (value) => JSON.stringify(value),
  key: (name) => JSON.stringify(name),
  indent: '  ',
  padding: ' ',
  trailingComma: '',
  toJson: null,
};

const TYPESCRIPT: Syntax = {
  scalar: (value) => (typeof value === 'string' ? quoted(value) : JSON.stringify(value)),
  key: (name) => (/^[A-Za-z_$][\w$]*$/.test(name) ? name : quoted(name)),
  indent: '  ',
  padding: ' ',
  trailingComma: ',',
  toJson: null,
};

const PYTHON_WORDS = new Map<unknown, string>([
  [true, 'True'],
  [false, 'False'],
  [null, 'None'],
]);

const PYTHON: Syntax = {
  scalar: (value) => PYTHON_WORDS.get(value) ?? JSON.stringify(value),
  key: (name) => JSON.stringify(name),
  indent: '    ',
  padding: '',
  trailingComma: ',',
  toJson: 'json.dumps',
};

/** `depth` is the indentation of the line on which the value begins. */
export const asJson = (value: unknown, depth = 0): string => write(value, JSON_SYNTAX, depth);
export const asTypeScript = (value: unknown, depth = 0): string => write(value, TYPESCRIPT, depth);
export const asPython = (value: unknown, depth = 0): string => write(value, PYTHON, depth);

function quoted(value: string): string {
  const json = JSON.stringify(value);
  if (value.includes("'")) return json;
  return `'${json.slice(1, -1).replaceAll('\\"', '"')}'`;
}

function write(value: unknown, syntax: Syntax, depth: number): string {
  if (typeof value !== 'object' || value === null) return writeScalar(value, syntax, depth);
  const [open, close] = Array.isArray(value) ? ['[', ']'] : ['{', '}'];
  const parts = Array.isArray(value)
    ? value.map((item) => write(item, syntax, depth + 1))
    : Object.entries(value).map(([name, field]) => `${syntax.key(name)}: ${write(field, syntax, depth + 1)}`);
  if (parts.length === 0) return `${open}${close}`;
  const padding = open === '{' ? syntax.padding : '';
  const line = `${open}${padding}${parts.join(', ')}${padding}${close}`;
  if (depth > 0 && line.length <= LINE_CHARACTERS_MAX && !line.includes('\n')) return line;
  const inner = syntax.indent.repeat(depth + 1);
  return `${open}\n${inner}${parts.join(`,\n${inner}`)}${syntax.trailingComma}\n${syntax.indent.repeat(depth)}${close}`;
}

function writeScalar(value: unknown, syntax: Syntax, depth: number): string {
  const json = typeof value === 'string' && syntax.toJson !== null ? jsonIn(value) : undefined;
  return json === undefined ? syntax.scalar(value) : `${syntax.toJson}(${write(json, syntax, depth)})`;
}

/** The object or list that a text is, such as the body of a request. A sample shows it as a value. */
export function jsonIn(text: string): unknown {
  if (!/^[[{]/.test(text)) return undefined;
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
