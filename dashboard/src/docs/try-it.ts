/**
 * The form that sends a request to the service of this page. The key is held in memory only: it is in no storage, no
 * address and no cookie, and it is forgotten when the page is left. Answers are shown as text.
 */
import { answerParts } from './answer.ts';
import { element } from './dom.ts';
import { type Parameter, prepare, send, UnusableValue } from './request.ts';

const LIVE_KEY = /^sk_live_/;
const ID = /^([a-z]+)_[0-9a-z]{20,}$/;

const ROWS_MAX = 16;
const ID_KINDS = new Map([
  ['schedules', 'sch'],
  ['endpoints', 'ep'],
  ['deliveries', 'dlv'],
]);

/** The key of all forms. */
let key = '';
/** The newest id of each kind that an answer had, such as the schedule that was just created. */
const newestIds = new Map<string, string>();

addEventListener('pagehide', () => {
  key = '';
  for (const input of keyInputs()) input.value = '';
});

interface Form {
  readonly section: HTMLElement;
  readonly inputs: readonly {
    readonly input: HTMLInputElement | HTMLSelectElement;
    readonly item: HTMLElement;
  }[];
  readonly body: HTMLTextAreaElement | null;
  readonly submit: HTMLButtonElement;
  readonly warning: HTMLElement;
  readonly output: HTMLElement;
}

/** Opens the form below the button, or closes it. It is made at the first opening. */
export function openTryIt(button: HTMLButtonElement): void {
  const section = button.closest<HTMLElement>('section');
  const place = button.parentElement;
  if (section === null || place === null) return;
  let form = place.querySelector('form');
  const isNew = form === null;
  if (form === null) {
    form = makeForm(section);
    place.append(form);
  } else form.hidden = !form.hidden;
  button.setAttribute('aria-expanded', `${!form.hidden}`);
  if (!form.hidden && !isNew) fillIds(section);
  if (!form.hidden) form.querySelector('input')?.focus();
}

function makeForm(section: HTMLElement): HTMLFormElement {
  const { id } = section;
  const inputs = [...section.querySelectorAll<HTMLElement>('li[data-in]')].map((item) => ({
    item,
    input: inputOf(item, `try-${item.id}`),
  }));
  const body = bodyOf(section);
  const submit = element('button', { type: 'submit', class: 'button primary' }, 'Send');
  const warning = element('p', { class: 'warning', role: 'status' });
  const output = element('div', { class: 'answer', 'aria-live': 'polite' });
  const form = element(
    'form',
    { class: 'try-form', autocomplete: 'off', novalidate: true, 'aria-label': 'Try it' },
    keyField(id),
    ...parameterRows(inputs),
    ...(body?.choice ? [labelled(body.choice, 'Example', '')] : []),
    ...(body === null ? [] : [labelled(body.area, 'Body', 'JSON')]),
    warning,
    submit,
    output,
  );
  const parts: Form = { section, inputs, body: body?.area ?? null, submit, warning, output };
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    void submitForm(parts);
  });
  form.addEventListener('input', () => warn(parts));
  queueMicrotask(() => {
    fillIds(section);
    warn(parts);
  });
  return form;
}

function keyField(id: string): HTMLElement {
  const input = element('input', {
    id: `try-${id}-key`,
    class: 'control',
    type: 'password',
    'data-key-input': true,
    autocomplete: 'off',
    spellcheck: 'false',
    maxlength: '200',
    placeholder: 'sk_test_…',
    'aria-describedby': `try-${id}-key-note`,
  });
  input.value = key;
  input.addEventListener('input', () => useKey(input.value.trim(), input));
  const { key: devKey } = document.body.dataset;
  const offer = element('button', { type: 'button', class: 'button' }, 'Use the test key of sched dev');
  offer.addEventListener('click', () => {
    useKey(devKey ?? '', null);
    input.dispatchEvent(new Event('input', { bubbles: true }));
  });
  const field = labelled(input, 'API key', '');
  field.append(
    element(
      'p',
      { class: 'note', id: `try-${id}-key-note` },
      'The key stays in this page until you leave it. It is sent to this service only.',
    ),
    ...(devKey === undefined ? [] : [offer]),
  );
  return field;
}

function useKey(value: string, source: HTMLInputElement | null): void {
  key = value;
  for (const input of keyInputs()) if (input !== source) input.value = value;
}

function keyInputs(): NodeListOf<HTMLInputElement> {
  return document.querySelectorAll<HTMLInputElement>('input[data-key-input]');
}

function inputOf({ dataset }: HTMLElement, id: string): HTMLInputElement | HTMLSelectElement {
  if (dataset.values === undefined) {
    const placeholder = dataset.labels === undefined ? '' : 'team=billing';
    return element('input', { id, class: 'control', autocomplete: 'off', spellcheck: 'false', placeholder });
  }
  const options = ['', ...dataset.values.split(' ')].map((value) =>
    element('option', { value }, value || 'any'),
  );
  return element('select', { id, class: 'control' }, ...options);
}

interface Example {
  readonly summary: string;
  readonly body: string;
}

function bodyOf({
  id,
  dataset,
}: HTMLElement): { readonly area: HTMLTextAreaElement; readonly choice: HTMLElement | null } | null {
  if (dataset.examples === undefined) return null;
  const examples = JSON.parse(dataset.examples) as readonly Example[];
  const area = element('textarea', {
    id: `try-${id}-body`,
    class: 'control',
    spellcheck: 'false',
    autocomplete: 'off',
  });
  const fill = (at: number) => {
    area.value = withHook(examples[at]?.body ?? '');
    area.rows = Math.min(ROWS_MAX, area.value.split('\n').length + 1);
  };
  fill(0);
  if (examples.length === 1) return { area, choice: null };
  const options = examples.map(({ summary }, at) => element('option', { value: `${at}` }, summary));
  const choice = element('select', { id: `try-${id}-example`, class: 'control' }, ...options);
  choice.addEventListener('change', () => fill(Number(choice.value)));
  return { area, choice };
}

/** In `sched dev` the example sends to the inbox, where the reader can see the request arrive. */
function withHook(body: string): string {
  const { hook } = document.body.dataset;
  if (hook === undefined) return body;
  const url = JSON.stringify(location.origin + hook);
  return body.replace(/("(?:endpoint|url)": )"[^"]*"/, (_match, name: string) => `${name}${url}`);
}

/** Headers are rarely needed, so they can be opened. */
function parameterRows(inputs: Form['inputs']): readonly HTMLElement[] {
  const rowOf = ({ item, input }: Form['inputs'][number]) =>
    labelled(input, item.dataset.name ?? '', item.dataset.in ?? '');
  const headers = inputs.filter(({ item }) => item.dataset.in === 'header');
  const others = inputs.filter(({ item }) => item.dataset.in !== 'header').map(rowOf);
  if (headers.length === 0) return others;
  return [...others, element('details', {}, element('summary', {}, 'Headers'), ...headers.map(rowOf))];
}

function labelled(control: HTMLElement, name: string, place: string): HTMLElement {
  const note = place === '' ? [] : [' ', element('span', { class: 'type' }, place)];
  return element(
    'div',
    { class: 'control-row' },
    element('label', { for: control.id }, name, ...note),
    control,
  );
}

/** Fills an empty id with the newest one of the same kind. `/v1/schedules/{id}` takes the id of a schedule. */
function fillIds(section: HTMLElement): void {
  const [, , collection = ''] = (section.dataset.path ?? '').split('/');
  const kind = ID_KINDS.get(collection);
  const input = section.querySelector<HTMLInputElement>(`[id="try-${section.id}-id"]`);
  if (input !== null && input.value === '' && kind !== undefined) input.value = newestIds.get(kind) ?? '';
}

function warn({ section, warning, submit }: Form): void {
  const isChange = section.dataset.method !== 'GET';
  const isLive = LIVE_KEY.test(key);
  const texts = [
    isLive ? 'This is a live key: the request works on live data.' : '',
    isChange ? 'This call changes data in the project of the key.' : '',
  ];
  warning.textContent = texts.filter(Boolean).join(' ');
  warning.classList.toggle('strong', isLive && isChange);
  submit.textContent = isLive ? 'Send with the live key' : 'Send';
}

async function submitForm(form: Form): Promise<void> {
  const { section, inputs, body, submit, output } = form;
  const { method = 'GET', path = '' } = section.dataset;
  submit.disabled = true;
  output.replaceChildren(element('p', {}, 'Sending…'));
  try {
    const parameters = inputs.map(
      ({ item, input }): Parameter => ({
        in: item.dataset.in as Parameter['in'],
        name: item.dataset.name ?? '',
        isLabels: item.dataset.labels !== undefined,
        value: input.value.trim(),
      }),
    );
    const text = body === null || body.value.trim() === '' ? null : body.value;
    const answer = await send(method, prepare(path, parameters), key, text);
    rememberId(answer.body);
    output.replaceChildren(...answerParts(answer, section.id));
  } catch (error) {
    output.replaceChildren(element('p', { class: 'failure' }, failureText(error)));
  } finally {
    submit.disabled = false;
  }
}

function failureText(error: unknown): string {
  if (error instanceof UnusableValue) return error.message;
  if (error instanceof DOMException && error.name === 'TimeoutError') {
    return 'No answer came within 30 seconds. Check that the service runs, then send again.';
  }
  return 'The service could not be reached. Check that it runs, then send again.';
}

function rememberId(body: string): void {
  try {
    const { id } = JSON.parse(body) as { readonly id?: unknown };
    const [, kind] = typeof id === 'string' ? (ID.exec(id) ?? []) : [];
    if (typeof id === 'string' && kind !== undefined) newestIds.set(kind, id);
  } catch {
    // An answer that is not JSON has no id.
  }
}
