/** The one arrival that somebody looks at: what is known of it, its headers and its body. */
import { askFor, byId, copyButton, element } from './dom.js';
import { prettyJson } from './json.js';
import { answerSentence, clock, lateness, signature, size, standing } from './words.js';

const pane = byId('details');
/** What a line has no room for, by the number of its arrival; it does not change. */
const fetched = new Map();
/** The arrival, those of the same delivery, and how to look at another one. */
let shown = null;
let isFetching = false;
let isRaw = false;

export function forget(isGone) {
  for (const number of fetched.keys()) if (isGone(number)) fetched.delete(number);
}

/** `attempts`: the arrivals of the same delivery, itself among them. */
export function show(arrival, attempts, select) {
  const isOther = shown?.arrival.number !== arrival.number;
  shown = { arrival, attempts, select };
  pane.hidden = false;
  if (isOther) pane.scrollTop = 0;
  render(isOther);
  void fetchShown();
}

/**
 * One at a time: of those that are looked at in the meantime only the last is asked for. When it is here the
 * arrival may be gone, and then there is nothing to show.
 */
async function fetchShown() {
  const number = shown?.arrival.number;
  if (isFetching || number === undefined || fetched.has(number)) return;
  isFetching = true;
  const details = await askFor(`/inbox/arrivals/${number}`);
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

/** What was rendered from details that do not change stays, and with it a selection in it. */
function render(isAnew) {
  const details = fetched.get(shown.arrival.number);
  const kept = isAnew ? [] : [...pane.children].filter((child) => child.hasAttribute('data-kept'));
  const rest = isAnew && details !== undefined ? [renderHeaders(details), renderBody(details)] : kept;
  pane.replaceChildren(...renderFacts(shown, details?.target ?? shown.arrival.target), ...rest);
}

function renderFacts({ arrival, attempts, select }, target) {
  const { method, delivery, at, bytes } = arrival;
  const rows = [
    ['Arrived', late(arrival)],
    ['Signature', signed(arrival)],
    ['Answer', answerSentence(arrival)],
  ];
  if (delivery !== null) {
    rows.push(['Delivery', element('code', {}, delivery.id)]);
    rows.push(['Attempt', renderAttempts(arrival, attempts, select)]);
  }
  const state = standing(arrival);
  if (state !== null) {
    const status = element('span', { class: 'standing', 'data-status': delivery.now.status }, state);
    rows.push(['Status', status]);
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

function late(arrival) {
  const words = lateness(arrival);
  return words === null ? clock(arrival.at) : `${clock(arrival.at)}, ${words}`;
}

function signed(arrival) {
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
  const most = delivery.now === null ? [] : [` of at most ${delivery.now.max_attempts}`];
  return element('span', { class: 'attempts' }, ...buttons, ...most);
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
      element('p', {}, `Not text. Its first ${body.shown} bytes at most, in hex:`),
      code(body.hex),
    );
    return section;
  }
  if (body.text === '') {
    section.append(element('p', { class: 'soft' }, 'There is none.'));
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
