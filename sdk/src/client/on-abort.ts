/**
 * Lets any number of calls share one listener on a signal. Node warns of a leak if a signal has more than ten
 * listeners, but a program may well abort fifty calls with one signal.
 */

interface SharedListener {
  readonly listeners: Set<() => void>;
  readonly notify: () => void;
}

const sharedBySignal = new WeakMap<AbortSignal, SharedListener>();

/** Returns a function that removes the listener. After the last removal, nothing is left on the signal. */
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
