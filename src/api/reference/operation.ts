/** The section of one operation: its fields on one side, its samples on the other. */
import type { Answer, ErrorMeaning, Operation, Parameter, ReferenceDocument } from './document.ts';
import { type Field, fieldsOf, parameterField, renderFields } from './fields.ts';
import { anchor, inline, prose, text } from './html.ts';
import { asJson } from './literals.ts';
import { type Sample, samplesOf } from './samples.ts';

const PLACES = [
  ['path', 'Path'],
  ['query', 'Query'],
  ['header', 'Headers'],
] as const;

export function renderOperation(document: ReferenceDocument, operation: Operation): string {
  const { id, method, path, body } = operation;
  const example = body === null ? undefined : document.exampleOf(body);
  const data = example === undefined ? '' : ` data-body="${text(JSON.stringify(example, null, 2))}"`;
  return `<section class="operation" id="${id}" aria-labelledby="${id}-title" data-method="${method}" data-path="${text(path)}"${data}>
<div class="about">
${renderHead(operation)}
${renderRequest(document, operation)}
${operation.answers.map((answer) => renderAnswer(document, operation, answer)).join('')}
${renderErrors(operation)}
</div>
<div class="beside">
${renderSamples(id, samplesOf(document, operation))}
${operation.answers.map((answer) => renderAnswerExample(document, operation, answer)).join('')}
<div class="try needs-script"><button type="button" class="button" data-action="try" aria-expanded="false">Try it<span class="hidden">: ${text(operation.summary)}</span></button></div>
</div>
</section>`;
}

/** What a receiver gets. It has fields like an operation, and no samples. */
export function renderWebhook(document: ReferenceDocument, webhook: Operation): string {
  const { id, body } = webhook;
  const example = body === null ? undefined : document.exampleOf(body);
  return `<section class="operation" id="${id}" aria-labelledby="${id}-title">
<div class="about">
${renderHead(webhook)}
${renderRequest(document, webhook)}
${webhook.answers.map(({ status, description = '' }) => `<h4>Answer ${statusText(status)}</h4>${prose(description)}`).join('')}
</div>
<div class="beside">${example === undefined ? '' : renderCode('Body', typeof example === 'string' ? example : asJson(example))}</div>
</section>`;
}

function renderHead({ id, summary, method, path, description }: Operation): string {
  const call = path.startsWith('/') ? ` <code>${text(path).replaceAll('/', '/<wbr>')}</code>` : '';
  return `<h3 id="${id}-title"><a href="#${id}">${text(summary)}</a></h3>
<p class="call"><b class="method ${method.toLowerCase()}">${method}</b>${call}</p>
${prose(description)}`;
}

function renderRequest(document: ReferenceDocument, { id, parameters, body }: Operation): string {
  const lists = PLACES.map(([place, title]) => {
    const those = parameters.filter((parameter) => parameter.in === place);
    return those.length === 0 ? '' : `<h4>${title}</h4>${renderParameters(document, id, those)}`;
  });
  const schema = body === null ? null : document.schemaOf(body);
  if (body === null || schema === null) return lists.join('');
  const optional = body.required ? '' : ' <span class="type">optional</span>';
  const fields = renderFields(fieldsOf(document, schema), { place: id, isRequest: true });
  return `${lists.join('')}<h4>Body${optional}</h4>${prose(schema.description ?? '')}${fields}`;
}

function renderParameters(document: ReferenceDocument, id: string, those: readonly Parameter[]): string {
  const byName = new Map(those.map((parameter) => [parameter.name, parameter]));
  /** The script of the page builds its form from these attributes. */
  const attributes = ({ name, isRequired, values }: Field) => {
    const { in: place, style } = byName.get(name) ?? {};
    return [
      ` data-in="${place}" data-name="${text(name)}"`,
      isRequired ? ' data-required' : '',
      values.length === 0 ? '' : ` data-values="${text(values.join(' '))}"`,
      style === 'deepObject' ? ' data-labels' : '',
    ].join('');
  };
  const fields = those.map((parameter) => parameterField(document, parameter));
  return renderFields(fields, { place: id, isRequest: true, attributes });
}

function renderAnswer(document: ReferenceDocument, { id }: Operation, answer: Answer): string {
  const schema = document.schemaOf(answer);
  const fields = schema === null ? [] : fieldsOf(document, schema);
  const list =
    fields.length === 0
      ? ''
      : `<details><summary>${fields.length} fields of the answer</summary>${renderFields(fields, { place: anchor(id, 'answer'), isRequest: false })}</details>`;
  return `<h4>Answer ${statusText(answer.status)}</h4>${prose(schema?.description ?? '')}${list}`;
}

function renderErrors({ id, errors }: Operation): string {
  if (errors.length === 0) return '';
  const items = errors.map((error) => renderError(anchor(id, 'error', error.code), error));
  return `<h4>Errors</h4><details><summary>${errors.length} error codes</summary><ul class="fields">${items.join('')}</ul></details>`;
}

export function renderError(id: string, { code, status, meaning }: ErrorMeaning): string {
  return `<li id="${id}"><div class="name"><a href="#${id}"><code>${text(code)}</code></a> <span class="type">${status}</span></div><p>${inline(meaning)}</p></li>`;
}

function renderSamples(id: string, samples: readonly Sample[]): string {
  const choices = samples.map(
    ({ language, label }, at) =>
      `<label><input type="radio" name="language-${id}" value="${language}"${at === 0 ? ' checked' : ''}><span>${label}</span></label>`,
  );
  const blocks = samples.map(
    ({ language, label, code }) =>
      `<div class="sample ${language}">${copyButton(label)}<pre tabindex="0" aria-label="${label} sample"><code>${text(code)}</code></pre></div>`,
  );
  return `<div class="samples code"><div class="languages" role="radiogroup" aria-label="Language of the sample">${choices.join('')}</div>${blocks.join('')}</div>`;
}

function renderAnswerExample(document: ReferenceDocument, _operation: Operation, answer: Answer): string {
  const example = document.exampleOf(answer);
  if (example === undefined) return '';
  return renderCode(`Answer ${statusText(answer.status)}`, asJson(example));
}

export function renderCode(title: string, code: string): string {
  return `<div class="code"><p class="code-title">${title}</p>${copyButton(title)}<pre tabindex="0" aria-label="${title}"><code>${text(code)}</code></pre></div>`;
}

function copyButton(what: string): string {
  return `<button type="button" class="copy needs-script" data-action="copy">Copy<span class="hidden"> ${what}</span></button>`;
}

function statusText(status: number): string {
  return Number.isNaN(status) ? '' : `${status}`;
}
