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

addEventListener('pagehide', () => useKey(''));

interface Form {
  readonly section: HTMLElement;
  readonly key: HTMLInputElement;
  readonly inputs: readonly {
    readonly input: HTMLInputElement | HTMLSelectElement;
    readonly item: HTMLElement;
  }[];
  readonly body: HTMLTextAreaElement | null;
  readonly submit: HTMLButtonElement;
  readonly warning: HTMLElement;
  readonly output: HTMLElement;
}

const forms: Form[] = [];

/** Opens the form below the button, or closes it. It is made at the first opening. */
export function openTryIt(button: HTMLButtonElement): void {
  const section = button.closest<HTMLElement>('section');
  const place = button.parentElement;
  if (section === null || place === null) return;
  const form = place.querySelector('form') ?? addForm(section, place);
  form.hidden = button.getAttribute('aria-expanded') === 'true';
  button.setAttribute('aria-expanded', `${!form.hidden}`);
  if (form.hidden) return;
  fillIds(section);
  form.querySelector('input')?.focus();
}

function addForm(section: HTMLElement, place: HTMLElement): HTMLFormElement {
  const inputs = [...section.querySelectorAll<HTMLElement>('li[data-in]')].map((item) => ({
    item,
    input: inputOf(item, `try-${item.id}`),
  }));
  const keyInput = keyInputOf(section.id);
  const body = bodyOf(section);
  const submit = element('button', { type: 'submit', class: 'button primary' }, 'Send');
  const warning = element('p', { class: 'warning', role: 'status' });
  const output = element('div', { class: 'answer', 'aria-live': 'polite' });
  const made = element(
    'form',
    { class: 'try-form', autocomplete: 'off', novalidate: true, 'aria-label': 'Try it' },
    keyRow(keyInput),
    ...parameterRows(inputs),
    ...(body?.choice ? [labelled(body.choice, 'Example', '')] : []),
    ...(body === null ? [] : [labelled(body.area, 'Body', 'JSON')]),
    warning,
    submit,
    output,
  );
  const form: Form = { section, key: keyInput, inputs, body: body?.area ?? null, submit, warning, output };
  made.addEventListener('submit', (event) => {
    event.preventDefault();
    void submitForm(form);
  });
  place.append(made);
  forms.push(form);
  useKey(key);
  return made;
}

function keyInputOf(id: string): HTMLInputElement {
  const input = element('input', {
    id: `try-${id}-key`,
    class: 'control',
    type: 'password',
    autocomplete: 'off',
    spellcheck: 'false',
    maxlength: '200',
    placeholder: 'sk_test_…',
    'aria-describedby': `try-${id}-key-note`,
  });
  input.addEventListener('input', () => useKey(input.value.trim()));
  return input;
}

function keyRow(input: HTMLInputElement): HTMLElement {
  const row = labelled(input, 'API key', '');
  const note = 'The key stays in this page until you leave it. It is sent to this service only.';
  row.append(element('p', { class: 'note', id: `${input.id}-note` }, note));
  const { key: devKey } = document.body.dataset;
  if (devKey === undefined) return row;
  const offer = element('button', { type: 'button', class: 'button' }, 'Use the test key of sched dev');
  offer.addEventListener('click', () => useKey(devKey));
  row.append(offer);
  return row;
}

/** All forms have the same key, and each says what it would do with it. */
function useKey(value: string): void {
  key = value;
  for (const form of forms) {
    if (form.key.value.trim() !== value) form.key.value = value;
    warn(form);
  }
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
  const examples = [...devExamples(id), ...(JSON.parse(dataset.examples) as readonly Example[])];
  const area = element('textarea', {
    id: `try-${id}-body`,
    class: 'control',
    spellcheck: 'false',
    autocomplete: 'off',
  });
  const fill = (at: number) => {
    area.value = withInbox(examples[at]?.body ?? '');
    area.rows = Math.min(ROWS_MAX, area.value.split('\n').length + 1);
  };
  fill(0);
  if (examples.length === 1) return { area, choice: null };
  const options = examples.map(({ summary }, at) => element('option', { value: `${at}` }, summary));
  const choice = element('select', { id: `try-${id}-example`, class: 'control' }, ...options);
  choice.addEventListener('change', () => fill(Number(choice.value)));
  return { area, choice };
}

/** The inbox of `sched dev`, where the reader can see the request arrive. Null in every other service. */
function inboxUrl(): string | null {
  const { hook } = document.body.dataset;
  return hook === undefined ? null : `${location.origin}${hook}`;
}

/** A first schedule whose delivery arrives while the reader is still here. */
function devExamples(id: string): readonly Example[] {
  const endpoint = inboxUrl();
  if (endpoint === null || id !== 'createSchedule') return [];
  const body = { endpoint, delay: '2s', body: '{"hello":"world"}' };
  return [{ summary: 'Send to the inbox, in 2 seconds', body: JSON.stringify(body, null, 2) }];
}

/** In `sched dev` every example sends to the inbox. */
function withInbox(body: string): string {
  const url = inboxUrl();
  if (url === null) return body;
  const quoted = JSON.stringify(url);
  return body.replace(/("(?:endpoint|url)": )"[^"]*"/, (_match, name: string) => `${name}${quoted}`);
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
  const item = section.querySelector('li[data-in="path"][data-name="id"]');
  const input = item && section.querySelector<HTMLInputElement>(`[id="try-${item.id}"]`);
  if (input?.value === '' && kind !== undefined) input.value = newestIds.get(kind) ?? '';
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
