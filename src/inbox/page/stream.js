/**
 * The page's side of the stream. A browser opens six connections to one host and no more, for all of its tabs:
 * a page that nobody sees lets go of its own. When it is seen again it says what it has seen, and is told the rest.
 */
import { byId } from './dom.js';

const NAMES = ['hello', 'arrival', 'answer', 'cleared'];

let events = null;
/** The id of the last event. */
let seen = '';

/** Calls `hear` with the name of each event and what it says. */
export function listen(hear) {
  const follow = () => {
    events?.close();
    events = document.hidden ? null : open(hear);
  };
  document.addEventListener('visibilitychange', follow);
  follow();
}

function open(hear) {
  tellLink('waiting', 'Connecting');
  const stream = new EventSource(`/inbox/events?seen=${encodeURIComponent(seen)}`);
  stream.addEventListener('open', () => tellLink('live', 'Live'));
  stream.addEventListener('error', () => tellLink('waiting', 'Reconnecting'));
  stream.addEventListener('full', () => tellLink('waiting', 'Too many inboxes are open'));
  for (const name of NAMES) {
    stream.addEventListener(name, ({ data, lastEventId }) => {
      seen = lastEventId;
      hear(name, JSON.parse(data));
    });
  }
  return stream;
}

function tellLink(state, words) {
  const link = byId('link');
  if (link.dataset.state === state && link.textContent === words) return;
  link.dataset.state = state;
  link.textContent = words;
}
