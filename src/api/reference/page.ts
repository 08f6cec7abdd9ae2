/**
 * Renders the OpenAPI document as one page, for phones and for print. All content comes from the document, so the page
 * always agrees with `/openapi.json`. Everything can be read without a script. The script (`dashboard/src/docs`) adds the
 * search and the form that sends a request.
 */
import type { OpenApiDocument } from '#src/api/contract/openapi.ts';
import { ICON_LINK, logo } from '#src/api/page-parts.ts';
import { ReferenceDocument } from './document.ts';
import { anchor, prose, text } from './html.ts';
import { renderCode, renderError, renderOperation, renderWebhook } from './operation.ts';

export interface ReferencePageOptions {
  readonly dashboard: string;
  /** The additions of `sched dev`. Null in every other service. */
  readonly dev: { readonly inbox: string; readonly hook: string; readonly key: string } | null;
}

const EXAMPLE_KEY = 'sk_test_YOUR_KEY';

export function renderReference(openApi: OpenApiDocument, options: ReferencePageOptions): string {
  const document = new ReferenceDocument(openApi);
  const { dev } = options;
  const data = dev === null ? '' : ` data-key="${text(dev.key)}" data-hook="${text(dev.hook)}"`;
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="robots" content="noindex">
<title>${text(document.title)} API reference</title>
${ICON_LINK}
<link rel="stylesheet" href="/docs/page.css">
<script type="module" src="/docs/page.js"></script>
</head>
<body${data}>
<a class="skip" href="#content">Skip to the content</a>
${renderTop(document, options)}
<div class="columns">
${renderContents(document, options)}
<main id="content">
<h1>${text(document.title)} API reference</h1>
${renderStart(document, options)}
${document.tags.map((tag) => renderTag(document, tag)).join('\n')}
${renderWebhooks(document)}
${renderAllErrors(document)}
</main>
</div>
</body>
</html>
`;
}

/** The other pages of the service. */
function linksOf({ dashboard, dev }: ReferencePageOptions): readonly string[] {
  const links = [
    ['/', 'Home'],
    [dashboard, 'Dashboard'],
    ...(dev === null ? [] : [[dev.inbox, 'Inbox']]),
    ['/openapi.json', 'openapi.json'],
  ];
  return links.map(([href = '', name = '']) => `<a href="${text(href)}">${name}</a>`);
}

function renderTop({ title }: ReferenceDocument, options: ReferencePageOptions): string {
  return `<header class="top">
<a class="brand" href="/">${logo(24)}${text(title)}</a>
<button type="button" class="button contents-button" popovertarget="contents">Contents</button>
<search class="search needs-script">
<label class="hidden" for="search">Search sections, operations, fields and error codes</label>
<input id="search" type="search" placeholder="Search" autocomplete="off" spellcheck="false" maxlength="100" aria-keyshortcuts="/"><kbd aria-hidden="true">/</kbd>
<div id="results" hidden><p role="status"></p><ul></ul></div>
</search>
<nav class="links" aria-label="Pages">${linksOf(options).join('')}</nav>
</header>`;
}

function renderContents(document: ReferenceDocument, options: ReferencePageOptions): string {
  const groups = [
    ...document.tags.map((tag) => ({
      title: tag,
      items: document.operations
        .filter((operation) => operation.tag === tag)
        .map(({ id, summary, method }) => ({ id, title: summary, method })),
    })),
    {
      title: 'Webhooks',
      items: document.webhooks.map(({ id, summary, method }) => ({ id, title: summary, method })),
    },
  ].filter(({ items }) => items.length > 0);
  const renderGroup = ({ title, items }: (typeof groups)[number]) =>
    `<h2>${text(title)}</h2><ul>${items
      .map(
        (item) =>
          `<li><a href="#${item.id}"><span>${text(item.title)}</span><b class="method ${item.method.toLowerCase()}" aria-hidden="true">${item.method}</b></a></li>`,
      )
      .join('')}</ul>`;
  return `<nav id="contents" popover aria-label="Contents">
<ul><li><a href="#start">Before you start</a></li></ul>
${groups.map(renderGroup).join('')}
<h2>More</h2><ul><li><a href="#errors">Errors</a></li>${linksOf(options)
    .map((link) => `<li class="narrow">${link}</li>`)
    .join('')}</ul>
</nav>`;
}

function renderStart({ description }: ReferenceDocument, { dashboard, dev }: ReferencePageOptions): string {
  const key = dev?.key ?? EXAMPLE_KEY;
  const where =
    dev === null
      ? `Create a key with <code>sched key create</code>, or on the <a href="${text(dashboard)}">dashboard</a>.`
      : 'This is the fixed test key of <code>sched dev</code>.';
  return `<section id="start" class="operation" aria-labelledby="start-title">
<div class="about"><h2 id="start-title">Before you start</h2>${prose(description)}</div>
<div class="beside">${renderCode('The samples read these', `export SCHED_URL=${ORIGIN}\nexport SCHED_API_KEY=${key}`).replace(ORIGIN, `<span data-origin>${ORIGIN}</span>`)}<p>${where}</p></div>
</section>`;
}

function renderTag(document: ReferenceDocument, tag: string): string {
  const those = document.operations.filter((operation) => operation.tag === tag);
  return `<h2 class="tag" id="${anchor(tag.toLowerCase().replaceAll(' ', '-'))}">${text(tag)}</h2>${those.map((operation) => renderOperation(document, operation)).join('\n')}`;
}

function renderWebhooks(document: ReferenceDocument): string {
  if (document.webhooks.length === 0) return '';
  return `<h2 class="tag" id="webhooks">Webhooks</h2>${document.webhooks.map((webhook) => renderWebhook(document, webhook)).join('\n')}`;
}

function renderAllErrors(document: ReferenceDocument): string {
  const items = document.errors.map(({ operations, ...error }) => {
    const isEverywhere = operations.length === document.operations.length;
    const links = operations.map(({ id, summary }) => `<a href="#${id}">${text(summary)}</a>`);
    const where = isEverywhere ? 'Every operation.' : `${links.join(', ')}.`;
    return renderError(anchor('error', error.code), error, `<p class="facts">${where}</p>`);
  });
  return `<section id="errors" aria-labelledby="errors-title"><h2 class="tag" id="errors-title">Errors</h2>
<p>Programs should decide by <code>code</code>. The text of <code>message</code> may change.</p>
<ul class="fields wide">${items.join('')}</ul></section>`;
}

/** The script puts the address of the service here. */
const ORIGIN = 'https://sched.example.com';
