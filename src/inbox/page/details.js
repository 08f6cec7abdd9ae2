/** The details of the selected arrival: its facts, its headers and its body. */
import { byId, copyButton, element, fetchJson } from './dom.js';
import { prettyJson } from './json.js';
import { answerSentence, clock, deliveryStatus, isFollowed, lateness, signature, size } from './texts.js';

const pane = byId('details');
/** Headers and bodies by the number of the arrival. They do not change. */
const fetched = new Map();
/** The shown arrival, the arrivals of the same delivery, and a function that selects another one. */
let shown = null;
let isFetching = false;
let isRaw = false;

export function forget(isDropped) {
  for (const number of fetched.keys()) if (isDropped(number)) fetched.delete(number);
}

/** `attempts` are all arrivals of the same delivery, including this one. */
export function show(arrival, attempts, select) {
  const isOther = shown?.arrival.number !== arrival.number;
  shown = { arrival, attempts, select };
  pane.hidden = false;
  if (isOther) pane.scrollTop = 0;
  render(isOther);
  void fetchShown();
}

/**
 * Fetches one arrival at a time. If several are selected in the meantime, only the last is fetched. The arrival
 * may have been dropped when the answer is here, and then nothing is shown.
 */
async function fetchShown() {
  const number = shown?.arrival.number;
  if (isFetching || number === undefined || fetched.has(number)) return;
  isFetching = true;
  const details = await fetchJson(`/inbox/arrivals/${number}`);
  isFetching = false;
  if (details !== null) fetched.set(number, details);
  if (shown?.arrival.number !== number) return fetchShown();
  if (details !== null) render(true);
}

export function hide() {
  shown = null;
  pane.hidden = true;
  pane.replaceChildren();
}

/** Elements of fetched details are kept, so that a text selection in them survives. */
function render(isComplete) {
  const details = fetched.get(shown.arrival.number);
  const kept = isComplete ? [] : [...pane.children].filter((child) => child.hasAttribute('data-kept'));
  const rest = isComplete && details !== undefined ? [renderHeaders(details), renderBody(details)] : kept;
  pane.replaceChildren(...renderFacts(shown, details?.target ?? shown.arrival.target), ...rest);
}

function renderFacts({ arrival, attempts, select }, target) {
  const { method, delivery, at, bytes } = arrival;
  const rows = [
    ['Arrived', arrivedText(arrival)],
    ['Signature', signatureElement(arrival)],
    ['Answer', answerSentence(arrival)],
  ];
  if (delivery !== null) {
    rows.push(['Delivery', element('code', {}, delivery.id)]);
    rows.push(['Attempt', renderAttempts(arrival, attempts, select)]);
  }
  const status = deliveryStatus(arrival);
  if (status !== null) {
    const value = element('span', { class: 'delivery-status', 'data-status': delivery.now.status }, status);
    rows.push(isFollowed(arrival) ? ['Then', status] : ['Status', value]);
  }
  rows.push(['Size', size(bytes)]);
  const list = rows.flatMap(([term, value]) => [element('dt', {}, term), element('dd', {}, value)]);
  return [
    element('a', { class: 'back', href: '#arrivals' }, 'Back to the list'),
    element(
      'h2',
      { title: clock(at) },
      element('span', { class: 'method' }, method),
      ' ',
      element('code', {}, target),
    ),
    element('dl', {}, ...list),
  ];
}

function arrivedText(arrival) {
  const late = lateness(arrival);
  return late === null ? clock(arrival.at) : `${clock(arrival.at)}, ${late}`;
}

function signatureElement(arrival) {
  if (arrival.signature.verified) return element('span', { class: 'verified' }, signature(arrival));
  return element(
    'span',
    {},
    element('span', { class: 'unverified' }, 'Not verified. '),
    arrival.signature.why,
  );
}

function renderAttempts({ number, delivery }, attempts, select) {
  const buttons = attempts.map((each) => {
    const button = element('button', { type: 'button', class: 'quiet' }, String(each.delivery.attempt));
    button.setAttribute('aria-label', `Attempt ${each.delivery.attempt}`);
    if (each.number === number) button.setAttribute('aria-current', 'true');
    button.addEventListener('click', () => select(each.number));
    return button;
  });
  const limit = delivery.now === null ? [] : [` of ${delivery.now.max_attempts} at most`];
  return element('span', { class: 'attempts' }, ...buttons, ...limit);
}

function renderHeaders({ headers }) {
  const rows = headers.map(([name, value]) =>
    element('tr', {}, element('th', { scope: 'row' }, name), element('td', {}, value)),
  );
  return element(
    'section',
    { 'data-kept': '', class: 'headers' },
    element('h3', {}, 'Headers'),
    element('table', {}, element('tbody', {}, ...rows)),
  );
}

function renderBody({ body }) {
  const section = element('section', { 'data-kept': '', class: 'body' }, element('h3', {}, 'Body'));
  if (body.kind === 'binary') {
    section.append(
      element('p', {}, `The body is not text. Up to ${body.shown} bytes are shown in hex:`),
      code(body.hex),
    );
    return section;
  }
  if (body.text === '') {
    section.append(element('p', { class: 'soft' }, 'The request has no body.'));
    return section;
  }
  const pretty = prettyJson(body.text);
  const text = code(pretty !== null && !isRaw ? pretty : body.text);
  const copy = copyButton(element('button', { type: 'button', class: 'quiet' }, 'Copy'), () => body.text);
  const tools = element('span', { class: 'tools' }, copy);
  if (pretty !== null) tools.prepend(rawToggle(text, pretty, body.text));
  section.firstElementChild?.append(tools);
  section.append(text);
  return section;
}

function code(text) {
  return element('pre', {}, text);
}

function rawToggle(pre, pretty, raw) {
  const button = element('button', { type: 'button', class: 'quiet', 'aria-pressed': String(isRaw) }, 'Raw');
  button.addEventListener('click', () => {
    isRaw = !isRaw;
    button.setAttribute('aria-pressed', String(isRaw));
    pre.textContent = isRaw ? raw : pretty;
  });
  return button;
}
