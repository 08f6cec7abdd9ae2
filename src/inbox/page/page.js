/**
 * The inbox page. It holds nothing of its own: the service tells by server-sent events how things are, and each
 * event replaces what was known of its arrival. So a page that was away for a while is right again once it has
 * caught up, and one that is told twice shows no more.
 */
import * as details from './details.js';
import { byId, copyButton, element, post } from './dom.js';
import { listen } from './stream.js';
import { announcement, answer, choice, clock, lateness, mood, signature, standing } from './words.js';

/** Where the details are below the list. */
const NARROW = matchMedia('(max-width: 54rem)');

const arrivals = new Map();
const rows = new Map();
let selected = null;
/** Whether the newest is shown as it comes: so it is until somebody looks at another one. */
let isFollowing = true;
let isShowingSoon = false;
let sample = null;

const hearing = {
  hello(hello) {
    if (hello.isNew) dropBefore(Number.POSITIVE_INFINITY);
    sample = hello.sample;
    byId('hook').textContent = hello.hook;
    byId('curl').textContent = hello.curl;
    showChoice(hello.answer);
  },
  answer: (told) => showChoice(told.answer),
  arrival({ arrival }) {
    const isNew = !arrivals.has(arrival.number);
    arrivals.set(arrival.number, arrival);
    renderRow(arrival);
    if (isNew) tellNews(arrival);
    if (isFollowing && arrival.number > (selected ?? 0)) mark(arrival.number);
    if (isOfSelected(arrival)) showDetailsSoon();
  },
};

listen((name, told) => {
  hearing[name]?.(told);
  dropBefore(told.first);
  showAmount();
});

function tellNews(arrival) {
  byId('news').textContent = announcement(arrival);
  byId('sent').textContent = '';
}

function dropBefore(first) {
  for (const number of [...arrivals.keys()].filter((number) => number < first)) {
    arrivals.delete(number);
    rows.get(number)?.remove();
    rows.delete(number);
  }
  details.forget((number) => number < first);
  if (selected === null || selected >= first) return;
  selected = null;
  isFollowing = true;
  details.hide();
}

function showAmount() {
  const { size } = arrivals;
  byId('empty').hidden = size > 0;
  byId('list').hidden = size === 0;
  byId('count').textContent = size === 0 ? '' : String(size);
  document.title = size === 0 ? 'Sched inbox' : `(${size}) Sched inbox`;
}

function renderRow(arrival) {
  const { number, method, target, at, delivery } = arrival;
  const notes = [
    element('span', { class: arrival.signature.verified ? 'verified' : 'unverified' }, signature(arrival)),
    ...[lateness(arrival), delivery === null ? null : `attempt ${delivery.attempt}`, standing(arrival)]
      .filter((words) => words !== null)
      .map((words) => element('span', {}, words)),
  ];
  const parts = [
    element('span', { class: 'badge', 'data-mood': mood(arrival) }, answer(arrival)),
    element('span', { class: 'what' }, element('b', {}, method), ' ', target),
    element('time', { datetime: new Date(at).toISOString() }, clock(at)),
    element('span', { class: 'notes' }, ...notes),
  ];
  const row = rows.get(number);
  if (row !== undefined) {
    row.firstElementChild.replaceChildren(...parts);
    return;
  }
  const button = element('button', { type: 'button', class: 'row' }, ...parts);
  button.addEventListener('click', () => {
    select(number);
    isFollowing = number === Math.max(...arrivals.keys());
    if (NARROW.matches) byId('details').scrollIntoView();
  });
  const item = element('li', { 'data-number': String(number) }, button);
  rows.set(number, item);
  const older = [...byId('arrivals').children].find((other) => Number(other.dataset.number) < number);
  byId('arrivals').insertBefore(item, older ?? null);
}

function select(number) {
  mark(number);
  showDetails();
}

function mark(number) {
  rows.get(selected)?.firstElementChild.removeAttribute('aria-current');
  selected = number;
  rows.get(number)?.firstElementChild.setAttribute('aria-current', 'true');
}

/** Many may come at once: only what is selected when they have been heard is shown. */
function showDetailsSoon() {
  if (isShowingSoon) return;
  isShowingSoon = true;
  requestAnimationFrame(() => {
    isShowingSoon = false;
    showDetails();
  });
}

function showDetails() {
  const arrival = arrivals.get(selected);
  if (arrival !== undefined) details.show(arrival, triesOf(arrival), select);
}

function triesOf({ delivery }) {
  if (delivery === null) return [];
  return [...arrivals.values()]
    .filter((other) => other.delivery?.id === delivery.id)
    .sort((one, other) => one.number - other.number);
}

function isOfSelected(arrival) {
  const shown = arrivals.get(selected);
  if (shown === undefined) return false;
  return (
    shown.number === arrival.number || (shown.delivery !== null && shown.delivery.id === arrival.delivery?.id)
  );
}

byId('arrivals').addEventListener('keydown', (event) => {
  const step = { ArrowDown: 'nextElementSibling', ArrowUp: 'previousElementSibling' }[event.key];
  const next = step && document.activeElement?.closest('li')?.[step]?.firstElementChild;
  if (!next) return;
  event.preventDefault();
  next.focus();
  next.click();
});

function showChoice(now) {
  for (const button of document.querySelectorAll('[data-answer]')) {
    button.setAttribute('aria-pressed', String(button.dataset.answer === now.answer));
  }
  byId('once').checked = now.times !== null;
  byId('choice').textContent = choice(now);
}

function choose(kind) {
  void post('/inbox/answer', { answer: kind, times: byId('once').checked ? 1 : null });
}

for (const button of document.querySelectorAll('[data-answer]')) {
  button.addEventListener('click', () => choose(button.dataset.answer));
}
byId('once').addEventListener('change', () => {
  const pressed = document.querySelector('[data-answer][aria-pressed="true"]')?.dataset.answer;
  // For a 200 it says nothing yet: that is what comes afterwards anyway.
  if (pressed !== '200') choose(pressed);
});
byId('clear').addEventListener('click', () => void post('/inbox/clear', {}));
byId('send').addEventListener('click', () => void sendSample());

async function sendSample() {
  if (sample === null) return;
  const made = await post('/v1/schedules', sample.body, { authorization: `Bearer ${sample.key}` });
  if (made !== null) byId('sent').textContent = `Due at ${clock(Date.parse(made.fire_at))}`;
}

for (const button of document.querySelectorAll('[data-copies]')) {
  copyButton(button, () => byId(button.dataset.copies).textContent);
}
