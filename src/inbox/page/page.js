/**
 * The inbox page. The service sends the state as server-sent events, and each event replaces what the page
 * knew about its arrival. A page that was disconnected is therefore right again when it has caught up, and
 * receiving an event twice changes nothing.
 */
import * as details from './details.js';
import { byId, copyButton, element, post } from './dom.js';
import { listen } from './stream.js';
import {
  announcement,
  answer,
  answerMode,
  clock,
  deliveryStatus,
  lateness,
  signature,
  tone,
} from './texts.js';

/** On a narrow screen the details are below the list. */
const NARROW = matchMedia('(max-width: 54rem)');

const arrivals = new Map();
const rows = new Map();
let selected = null;
/** Whether the newest arrival is selected automatically, until the user selects another one. */
let isFollowing = true;
let isRenderScheduled = false;
let sample = null;

const handlers = {
  hello(hello) {
    if (hello.isNew) dropBefore(Number.POSITIVE_INFINITY);
    sample = hello.sample;
    byId('hook').textContent = hello.hook;
    byId('curl').textContent = hello.curl;
    showAnswerMode(hello.answer);
  },
  answer: (data) => showAnswerMode(data.answer),
  arrival({ arrival }) {
    const isNew = !arrivals.has(arrival.number);
    arrivals.set(arrival.number, arrival);
    renderRow(arrival);
    if (isNew) announce(arrival);
    if (isFollowing && arrival.number > (selected ?? 0)) setSelected(arrival.number);
    if (isOfSelected(arrival)) scheduleDetails();
  },
};

listen((name, data) => {
  handlers[name]?.(data);
  dropBefore(data.first);
  showCount();
});

function announce(arrival) {
  byId('announcement').textContent = announcement(arrival);
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

function showCount() {
  const { size } = arrivals;
  byId('empty').hidden = size > 0;
  byId('list').hidden = size === 0;
  byId('count').textContent = size === 0 ? '' : String(size);
  document.title = size === 0 ? 'Sched inbox' : `(${size}) Sched inbox`;
}

function renderRow(arrival) {
  const { number, method, target, at, delivery } = arrival;
  const late = lateness(arrival);
  const notes = [
    element('span', { class: arrival.signature.verified ? 'verified' : 'unverified' }, signature(arrival)),
    ...[
      late === null ? null : `arrived ${late}`,
      delivery === null ? null : `attempt ${delivery.attempt}`,
      deliveryStatus(arrival),
    ]
      .filter((text) => text !== null)
      .map((text) => element('span', {}, text)),
  ];
  const parts = [
    element('span', { class: 'badge', 'data-tone': tone(arrival) }, answer(arrival)),
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
  setSelected(number);
  showDetails();
}

function setSelected(number) {
  rows.get(selected)?.firstElementChild.removeAttribute('aria-current');
  selected = number;
  rows.get(number)?.firstElementChild.setAttribute('aria-current', 'true');
}

/** Many events may arrive at once, so the details are rendered once, after all of them. */
function scheduleDetails() {
  if (isRenderScheduled) return;
  isRenderScheduled = true;
  requestAnimationFrame(() => {
    isRenderScheduled = false;
    showDetails();
  });
}

function showDetails() {
  const arrival = arrivals.get(selected);
  if (arrival !== undefined) details.show(arrival, attemptsOf(arrival), select);
}

function attemptsOf({ delivery }) {
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

function showAnswerMode(mode) {
  for (const button of document.querySelectorAll('[data-answer]')) {
    button.setAttribute('aria-pressed', String(button.dataset.answer === mode.answer));
  }
  byId('once').checked = mode.times !== null;
  byId('answer-mode').textContent = answerMode(mode);
}

function setAnswer(kind) {
  void post('/inbox/answer', { answer: kind, times: byId('once').checked ? 1 : null });
}

for (const button of document.querySelectorAll('[data-answer]')) {
  button.addEventListener('click', () => setAnswer(button.dataset.answer));
}
byId('once').addEventListener('change', () => {
  const pressed = document.querySelector('[data-answer][aria-pressed="true"]')?.dataset.answer;
  // A 200 for the next request only would change nothing, because 200 is the default.
  if (pressed !== '200') setAnswer(pressed);
});
byId('clear').addEventListener('click', () => void post('/inbox/clear', {}));
byId('send').addEventListener('click', () => void sendSample());

async function sendSample() {
  if (sample === null) return;
  const schedule = await post('/v1/schedules', sample.body, { authorization: `Bearer ${sample.key}` });
  if (schedule !== null) byId('sent').textContent = `Due at ${clock(Date.parse(schedule.fire_at))}`;
}

for (const button of document.querySelectorAll('[data-copies]')) {
  copyButton(button, () => byId(button.dataset.copies).textContent);
}
