/**
 * Listens to a signal for any number of calls by one listener on it. Node warns of a leak where there are more
 * than ten, and a program may well end fifty calls by one signal.
 */

interface Shared {
  readonly listeners: Set<() => void>;
  readonly tell: () => void;
}

const sharedOf = new WeakMap<AbortSignal, Shared>();

/** Answers what takes the listener back. With the last of them nothing is left on the signal. */
export function onAbort(signal: AbortSignal, listener: () => void): () => void {
  const { listeners, tell } = sharedOf.get(signal) ?? newShared(signal);
  if (listeners.size === 0) signal.addEventListener('abort', tell, { once: true });
  listeners.add(listener);
  return () => {
    listeners.delete(listener);
    if (listeners.size === 0) signal.removeEventListener('abort', tell);
  };
}

function newShared(signal: AbortSignal): Shared {
  const listeners = new Set<() => void>();
  const tell = () => {
    for (const listener of listeners) listener();
  };
  const shared = { listeners, tell };
  sharedOf.set(signal, shared);
  return shared;
}
