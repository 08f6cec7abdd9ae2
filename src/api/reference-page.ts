/**
 * Renders the OpenAPI document as one page without scripts or external resources, for phones and for print. All
 * content comes from the document, so the page always agrees with `/openapi.json`.
 */
import type { OpenApiDocument } from './contract/openapi.ts';

/** The parts of a document that the page uses. */
interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly format?: string;
  readonly description?: string;
  readonly example?: unknown;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
  readonly additionalProperties?: Schema | boolean;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly maxLength?: number;
}
interface Parameter {
  readonly name: string;
  readonly in: string;
  readonly required?: boolean;
  readonly description?: string;
  readonly schema?: Schema;
}
interface Content {
  readonly description?: string;
  readonly content?: Readonly<Record<string, { readonly schema?: Schema }>>;
}
interface Operation {
  readonly operationId: string;
  readonly tags: readonly string[];
  readonly summary: string;
  readonly description?: string;
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: Content & { readonly required?: boolean };
  readonly responses: Readonly<Record<string, Content>>;
}
interface Endpoint extends Operation {
  readonly method: string;
  readonly path: string;
}

export function renderReference(document: OpenApiDocument): string {
  const endpoints = endpointsOf(document);
  const tags = [...new Set(endpoints.flatMap(({ tags }) => tags))];
  const schemas = Object.entries((document.components?.schemas ?? {}) as Readonly<Record<string, Schema>>);
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${text(document.info.title)} API reference</title>
<style>${STYLE}</style>
</head>
<body>
<a class="skip" href="#content">Skip to the content</a>
<nav aria-label="Contents">
<p class="name"><a href="#content">${text(document.info.title)}</a></p>
${tags.map((tag) => renderContents(tag, endpoints)).join('\n')}
<h2>Objects</h2>
<ul>${schemas.map(([name]) => `<li><a href="#${slug(name)}">${text(name)}</a></li>`).join('')}</ul>
<p><a href="/openapi.json">openapi.json</a></p>
</nav>
<main id="content">
<h1>${text(document.info.title)} API reference</h1>
${prose(document.info.description)}
${tags.map((tag) => renderTag(tag, endpoints)).join('\n')}
<h2 id="objects">Objects</h2>
${schemas.map(([name, schema]) => renderSchema(name, schema)).join('\n')}
</main>
</body>
</html>
`;
}

function endpointsOf(document: OpenApiDocument): readonly Endpoint[] {
  return Object.entries(document.paths ?? {}).flatMap(([path, item]) =>
    Object.entries(item as Readonly<Record<string, Operation>>).map(([method, operation]) => ({
      ...operation,
      method: method.toUpperCase(),
      path,
    })),
  );
}

function renderContents(tag: string, endpoints: readonly Endpoint[]): string {
  const items = endpoints
    .filter(({ tags }) => tags.includes(tag))
    .map(({ operationId, summary }) => `<li><a href="#${slug(operationId)}">${text(summary)}</a></li>`);
  return `<h2>${text(tag)}</h2><ul>${items.join('')}</ul>`;
}

function renderTag(tag: string, endpoints: readonly Endpoint[]): string {
  const those = endpoints.filter(({ tags }) => tags.includes(tag));
  return `<h2 id="${slug(tag)}">${text(tag)}</h2>${those.map(renderEndpoint).join('\n')}`;
}

function renderEndpoint(endpoint: Endpoint): string {
  const {
    operationId,
    summary,
    description,
    method,
    path,
    parameters = [],
    requestBody,
    responses,
  } = endpoint;
  return `<section id="${slug(operationId)}" aria-labelledby="${slug(operationId)}-title">
<h3 id="${slug(operationId)}-title">${text(summary)}</h3>
<p class="call"><b class="${method.toLowerCase()}">${method}</b> <code>${text(path)}</code></p>
${prose(description)}
${table('Parameters', parameters.map(renderParameter))}
${requestBody === undefined ? '' : `<p><b>Body</b>${requestBody.required ? '' : ' (optional)'}: ${bodyType(requestBody)}</p>`}
${table('Answers', Object.entries(responses).map(renderResponse))}
</section>`;
}

function renderParameter({ name, in: place, required, description, schema }: Parameter): string {
  return row(
    `<code>${text(name)}</code>${required ? ' <span class="note">required</span>' : ''}`,
    `${text(place)}, ${schema === undefined ? '' : type(schema)}`,
    inline(description ?? schema?.description ?? ''),
  );
}

function renderResponse([status, response]: readonly [string, Content]): string {
  return row(`<code>${text(status)}</code>`, bodyType(response), prose(response.description));
}

function renderSchema(name: string, schema: Schema): string {
  const rows = Object.entries(schema.properties ?? {}).map(([field, value]) =>
    row(
      `<code>${text(field)}</code>`,
      type(value),
      inline([describe(value), bounds(value)].filter(Boolean).join(' ')),
    ),
  );
  return `<section id="${slug(name)}" aria-labelledby="${slug(name)}-title">
<h3 id="${slug(name)}-title">${text(name)}</h3>
${prose(schema.description)}
${table('Fields', rows)}
</section>`;
}

function bodyType({ content }: Content): string {
  const schema = content?.['application/json']?.schema;
  return schema === undefined ? '' : type(schema);
}

function type(schema: Schema): string {
  if (schema.$ref !== undefined) {
    const name = schema.$ref.split('/').at(-1) ?? '';
    return `<a href="#${slug(name)}">${text(name)}</a>`;
  }
  if (schema.anyOf !== undefined) return schema.anyOf.map(type).join(' or ');
  if (schema.const !== undefined) return `<code>${text(JSON.stringify(schema.const))}</code>`;
  if (schema.enum !== undefined) {
    return schema.enum.map((value) => `<code>${text(String(value))}</code>`).join(', ');
  }
  if (schema.items !== undefined) return `list of ${type(schema.items)}`;
  const names = [schema.type ?? 'any'].flat().map((name) => text(name));
  if (names.includes('object') && typeof schema.additionalProperties === 'object') {
    return `map of string to ${type(schema.additionalProperties)}`;
  }
  return schema.format === undefined ? names.join(' or ') : `${names.join(' or ')} (${text(schema.format)})`;
}

/** The description of a nullable field is one level deeper. */
function describe(schema: Schema): string {
  return schema.description ?? schema.anyOf?.find(({ description }) => description)?.description ?? '';
}

function bounds(schema: Schema): string {
  const { minimum, maximum, maxLength } = schema.anyOf?.[0] ?? schema;
  const parts = [
    minimum !== undefined && minimum > -(2 ** 53) + 1 && `At least ${minimum}.`,
    maximum !== undefined && maximum < 2 ** 53 - 1 && `At most ${maximum}.`,
    maxLength !== undefined && `At most ${maxLength} characters.`,
  ];
  return parts.filter((part) => part !== false).join(' ');
}

function table(caption: string, rows: readonly string[]): string {
  if (rows.length === 0) return '';
  return `<div class="scroll" tabindex="0" role="region" aria-label="${caption}"><table><caption>${caption}</caption><tbody>${rows.join('')}</tbody></table></div>`;
}

function row(head: string, kind: string, meaning: string): string {
  return `<tr><th scope="row">${head}</th><td>${kind}</td><td>${meaning}</td></tr>`;
}

function prose(markdown: string | undefined): string {
  if (markdown === undefined || markdown === '') return '';
  return markdown
    .split(/\n\n+/)
    .map((paragraph) => `<p>${inline(paragraph)}</p>`)
    .join('');
}

/** Renders `code`, the only markup that the document uses. */
function inline(markdown: string): string {
  return text(markdown).replace(/`([^`]+)`/g, '<code>$1</code>');
}

function text(value: string): string {
  return value.replace(/&/g, '&amp;').replace(/</g, '&lt;').replace(/>/g, '&gt;').replace(/"/g, '&quot;');
}

function slug(name: string): string {
  return name.toLowerCase().replace(/[^a-z0-9]+/g, '-');
}

const STYLE = `
:root { --ink: #1b1f24; --soft: #57606a; --line: #d0d7de; --back: #fff; --raised: #f6f8fa; --link: #0550ae; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e6edf3; --soft: #9da7b3; --line: #30363d; --back: #0d1117; --raised: #161b22; --link: #79b8ff; }
}
* { box-sizing: border-box; }
body { margin: 0; font: 16px/1.55 system-ui, sans-serif; color: var(--ink); background: var(--back); display: grid; grid-template-columns: 17rem minmax(0, 1fr); }
nav { position: sticky; top: 0; height: 100vh; overflow-y: auto; padding: 1.5rem; border-right: 1px solid var(--line); background: var(--raised); font-size: .9rem; }
nav h2 { font-size: .75rem; text-transform: uppercase; letter-spacing: .05em; color: var(--soft); margin: 1.25rem 0 .25rem; border: 0; padding: 0; }
nav ul { list-style: none; margin: 0; padding: 0; }
.name { font-weight: 700; font-size: 1.1rem; margin: 0; }
main { padding: 2rem clamp(1rem, 4vw, 4rem) 6rem; max-width: 64rem; }
h1 { line-height: 1.2; }
h2 { margin-top: 3rem; border-bottom: 1px solid var(--line); padding-bottom: .3rem; }
section { margin: 2rem 0 3rem; scroll-margin-top: 1rem; }
a { color: var(--link); }
nav a { text-decoration: none; }
nav a:hover, nav a:focus { text-decoration: underline; }
code { font: .9em ui-monospace, monospace; background: var(--raised); padding: .1em .3em; border-radius: 4px; }
th code { white-space: nowrap; } td code { overflow-wrap: anywhere; }
.call b { font: 700 .8rem ui-monospace, monospace; padding: .2em .5em; border-radius: 4px; color: #fff; background: #57606a; }
.call b.get { background: #0969da; } .call b.post { background: #1a7f37; } .call b.patch { background: #9a6700; }
.note { color: var(--soft); font-size: .8rem; font-weight: 400; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-size: .9rem; }
caption { text-align: left; font-weight: 600; padding: .5rem 0; }
th, td { text-align: left; vertical-align: top; padding: .45rem .75rem .45rem 0; border-top: 1px solid var(--line); font-weight: 400; }
td p { margin: 0 0 .4rem; }
.skip { position: absolute; left: -999px; } .skip:focus { left: 1rem; top: 1rem; background: var(--back); padding: .5rem; }
@media (max-width: 52rem) { body { display: block; } nav { position: static; height: auto; border-right: 0; border-bottom: 1px solid var(--line); } }
@media print { nav { display: none; } body { display: block; } }
`;
