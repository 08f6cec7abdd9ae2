/**
 * The event stream on the side of the page. A browser opens at most six connections to one host for all its
 * tabs, so a hidden page closes its stream. When it is visible again, it sends the last event id that it has
 * seen and gets the rest.
 */
import { byId } from './dom.js';

const NAMES = ['hello', 'arrival', 'answer', 'cleared'];

let events = null;
/** The id of the last event. */
let seen = '';

/** Calls `onEvent` with the name and the data of each event. */
export function listen(onEvent) {
  const connect = () => {
    events?.close();
    events = document.hidden ? null : open(onEvent);
  };
  document.addEventListener('visibilitychange', connect);
  connect();
}

function open(onEvent) {
  showConnection('waiting', 'Connecting');
  const stream = new EventSource(`/inbox/events?seen=${encodeURIComponent(seen)}`);
  stream.addEventListener('open', () => showConnection('live', 'Live'));
  stream.addEventListener('error', () => showConnection('waiting', 'Reconnecting'));
  stream.addEventListener('full', () =>
    showConnection('waiting', 'Too many inbox pages are open: close one'),
  );
  for (const name of NAMES) {
    stream.addEventListener(name, ({ data, lastEventId }) => {
      seen = lastEventId;
      onEvent(name, JSON.parse(data));
    });
  }
  return stream;
}

function showConnection(state, text) {
  const link = byId('link');
  if (link.dataset.state === state && link.textContent === text) return;
  link.dataset.state = state;
  link.textContent = text;
}
