/** The section of one operation: its fields on one side, its samples on the other. */
import type { Answer, ErrorMeaning, Example, Operation, Parameter, ReferenceDocument } from './document.ts';
import { type Field, type FieldListOptions, fieldsOf, parameterField, renderFields } from './fields.ts';
import { anchor, inline, prose, text } from './html.ts';
import { asJson } from './literals.ts';
import { receivedRequest, receiverSample, type Sample, samplesOf } from './samples.ts';

type Direction = Pick<FieldListOptions, 'isRequest'>;

export function renderOperation(document: ReferenceDocument, operation: Operation): string {
  const { id, method, path, body, answers, summary } = operation;
  const examples = body === null ? [] : document.examplesOf(body);
  return `<section class="operation" id="${id}" aria-labelledby="${id}-title" data-method="${method}" data-path="${text(path)}"${dataOf(examples)}>
<div class="about">
${renderHead(operation)}
${renderRequest(document, operation, { isRequest: true })}
${answers.map((answer) => renderAnswer(document, operation, answer)).join('')}
${renderErrors(operation)}
</div>
<div class="beside">
${renderAllSamples(document, operation, examples)}
<div class="try needs-script"><button type="button" class="button primary" data-action="try" aria-expanded="false">Try it<span class="hidden">: ${text(summary)}</span></button></div>
${answers.map((answer) => renderAnswerExample(document, answer)).join('')}
</div>
</section>`;
}

/** The script of the page fills its form with these. */
function dataOf(examples: readonly Example[]): string {
  if (examples.length === 0) return '';
  const bodies = examples.map(({ summary, value }) => ({ summary, body: asJson(value) }));
  return ` data-examples="${text(JSON.stringify(bodies))}"`;
}

/** The first example is shown, and the others can be opened. */
function renderAllSamples(
  document: ReferenceDocument,
  operation: Operation,
  examples: readonly Example[],
): string {
  const [first, ...others] = examples;
  const render = (example: Example | undefined, at: number) =>
    renderSamples(`${operation.id}-${at}`, samplesOf(document, operation, example?.value));
  const more = others.map(
    (example, at) =>
      `<details><summary>${text(example.summary)}</summary>${render(example, at + 1)}</details>`,
  );
  if (more.length === 0) return render(first, 0);
  return `<p class="caption">${text(first?.summary ?? '')}</p>${render(first, 0)}<div class="more">${more.join('')}</div>`;
}

/** The request that a receiver gets, and how it checks that. */
export function renderWebhook(document: ReferenceDocument, webhook: Operation): string {
  const { id, answers } = webhook;
  return `<section class="operation" id="${id}" aria-labelledby="${id}-title">
<div class="about">
${renderHead(webhook)}
${renderRequest(document, webhook, { isRequest: false })}
<h4>Your answer</h4>
<ul class="fields">${answers.map(({ status, description = '' }) => `<li><div class="name"><code>${text(status)}</code></div>${prose(description)}</li>`).join('')}</ul>
</div>
<div class="beside">
${renderCode('Request', receivedRequest(document, webhook))}
${renderCode('TypeScript', receiverSample(id))}
<p>The page <code>docs/verifying.md</code> of Sched has the same for Express, Fastify and Hono, and for Python, Go, Ruby, PHP and Java. If a signature does not match, save the request to a file: <code>sched verify</code> says why.</p>
</div>
</section>`;
}

function renderHead({ id, summary, method, path, description }: Operation): string {
  const call = path.startsWith('/') ? ` <code>${text(path).replaceAll('/', '/<wbr>')}</code>` : '';
  return `<h3 id="${id}-title"><a href="#${id}">${text(summary)}</a></h3>
<p class="call"><b class="method ${method.toLowerCase()}">${method}</b>${call}</p>
${prose(description)}`;
}

/** Headers come last, because they are alike in all operations and rarely needed. */
function renderRequest(document: ReferenceDocument, operation: Operation, direction: Direction): string {
  const parameters = (place: Parameter['in'], title: string) =>
    renderParameters(document, operation, { place, title, ...direction });
  return [
    parameters('path', 'Path'),
    parameters('query', 'Query'),
    renderBody(document, operation, direction),
    parameters('header', 'Headers'),
  ].join('');
}

function renderBody(document: ReferenceDocument, { id, body }: Operation, direction: Direction): string {
  const schema = body === null ? null : document.schemaOf(body);
  if (body === null || schema === null) return '';
  const optional = body.required || !direction.isRequest ? '' : ' <span class="type">optional</span>';
  const about = body.description ?? schema.description ?? '';
  const fields = renderFields(fieldsOf(document, schema), { place: id, ...direction });
  return `<h4>Body${optional}</h4>${prose(about)}${fields}`;
}

function renderParameters(
  document: ReferenceDocument,
  { id, parameters }: Operation,
  { place, title, isRequest }: Direction & { readonly place: Parameter['in']; readonly title: string },
): string {
  const those = parameters.filter((parameter) => parameter.in === place);
  if (those.length === 0) return '';
  const byName = new Map(those.map((parameter) => [parameter.name, parameter]));
  /** The script of the page builds its form from these attributes. */
  const attributes = ({ name, isRequired, values }: Field) => {
    const { style } = byName.get(name) ?? {};
    return [
      ` data-in="${place}" data-name="${text(name)}"`,
      isRequired ? ' data-required' : '',
      values.length === 0 ? '' : ` data-values="${text(values.join(' '))}"`,
      style === 'deepObject' ? ' data-labels' : '',
    ].join('');
  };
  const fields = those.map((parameter) => parameterField(document, parameter));
  return `<h4>${title}</h4>${renderFields(fields, { place: place === 'path' ? anchor(id, 'path') : id, isRequest, attributes })}`;
}

function renderAnswer(document: ReferenceDocument, { id, answers }: Operation, answer: Answer): string {
  const schema = document.schemaOf(answer);
  const fields = schema === null ? [] : fieldsOf(document, schema);
  const headers = document.headersOf(answer).map((header) => parameterField(document, header));
  const list = (name: string, listed: readonly Field[]) =>
    listed.length === 0
      ? ''
      : `<details><summary>${listed.length} ${name}s of the answer</summary>${renderFields(listed, { place: answer === answers[0] ? anchor(id, 'answer', name) : anchor(id, 'answer', answer.status, name), isRequest: false })}</details>`;
  return `<h4>Answer ${text(answer.status)}</h4>${prose(answer.description ?? '')}${list('field', fields)}${list('header', headers)}`;
}

function renderErrors({ id, errors }: Operation): string {
  if (errors.length === 0) return '';
  const items = errors.map((error) => renderError(anchor(id, 'error', error.code), error));
  return `<h4>Errors</h4><details><summary>${errors.length} error codes</summary><ul class="fields">${items.join('')}</ul></details>`;
}

export function renderError(id: string, { code, status, meaning }: ErrorMeaning, more = ''): string {
  return `<li id="${id}"><div class="name"><a href="#${id}"><code>${text(code)}</code></a> <span class="type">${status}</span></div><p>${inline(meaning)}</p>${more}</li>`;
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

function renderAnswerExample(document: ReferenceDocument, answer: Answer): string {
  const [example] = document.examplesOf(answer);
  return example === undefined ? '' : renderCode(`Answer ${answer.status}`, asJson(example.value));
}

export function renderCode(title: string, code: string): string {
  return `<div class="code"><p class="code-title">${text(title)}</p>${copyButton(title)}<pre tabindex="0" aria-label="${text(title)}"><code>${text(code)}</code></pre></div>`;
}

function copyButton(what: string): string {
  return `<button type="button" class="copy needs-script" data-action="copy">Copy<span class="hidden"> ${text(what)}</span></button>`;
}
