/**
 * Listens to a signal for any number of calls by one listener on it. Node warns of a leak where there are more
 * than ten, and a program may well end fifty calls by one signal.
 */

interface SharedListener {
  readonly listeners: Set<() => void>;
  readonly notify: () => void;
}

const sharedBySignal = new WeakMap<AbortSignal, SharedListener>();

/** Answers what takes the listener back. With the last of them nothing is left on the signal. */
export function onAbort(signal: AbortSignal, listener: () => void): () => void {
  const { listeners, notify } = sharedBySignal.get(signal) ?? createShared(signal);
  if (listeners.size === 0) signal.addEventListener('abort', notify, { once: true });
  listeners.add(listener);
  return () => {
    listeners.delete(listener);
    if (listeners.size === 0) signal.removeEventListener('abort', notify);
  };
}

function createShared(signal: AbortSignal): SharedListener {
  const listeners = new Set<() => void>();
  const notify = () => {
    for (const listener of listeners) listener();
  };
  const shared = { listeners, notify };
  sharedBySignal.set(signal, shared);
  return shared;
}
