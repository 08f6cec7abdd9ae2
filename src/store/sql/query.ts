/** Queries with their parameters, put together from parts. */
import type { Parameter } from './mapping.ts';

/** A list is a parameter of PostgreSQL only. */
export type QueryParameter = Parameter | readonly Parameter[];

/** A text with the parameters `$1`, `$2` and so on, each used once and in this order. A part of one has the same form. */
export interface Query {
  readonly sql: string;
  readonly parameters: readonly QueryParameter[];
}

/** A query from a template. A value becomes the next parameter, and never a part of the text. */
export function sql(texts: TemplateStringsArray, ...parts: readonly (Query | QueryParameter)[]): Query {
  const parameters: QueryParameter[] = [];
  let text = texts[0] ?? '';
  for (const [index, part] of parts.entries()) {
    text += isQuery(part) ? textAfter(parameters, part) : `$${parameters.push(part)}`;
    text += texts[index + 1] ?? '';
  }
  return { sql: text, parameters };
}

/** Adds the parameters of a part, and returns its text with their new positions. */
function textAfter(parameters: QueryParameter[], part: Query): string {
  const before = parameters.length;
  parameters.push(...part.parameters);
  if (before === 0 || part.parameters.length === 0) return part.sql;
  return part.sql.replaceAll(/\$(\d+)/g, (_, position: string) => `$${before + Number(position)}`);
}

/** A text of this program. It must not contain anything that came from outside. */
export function raw(text: string): Query {
  return { sql: text, parameters: [] };
}

export function joined(parts: readonly Query[], separator: string): Query {
  const parameters: QueryParameter[] = [];
  const texts = parts.map((part) => textAfter(parameters, part));
  return { sql: texts.join(separator), parameters };
}

function isQuery(part: Query | QueryParameter): part is Query {
  return typeof part === 'object' && part !== null && 'sql' in part;
}
