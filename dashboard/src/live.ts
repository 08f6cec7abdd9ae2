/** `useLive(path)`: the data of an API path, kept up to date while a component shows it. */
import { useEffect, useRef, useState } from 'preact/hooks';
import { get, getAutomatically, renewSession } from './api.ts';
import { BROWSER, onWake, openSource } from './event-stream.ts';
import { type Live, LiveClient, LOADING } from './live-client.ts';
import { parseResponse } from './model/parse-response.ts';

export type { Live } from './live-client.ts';

const client = new LiveClient({
  ...BROWSER,
  get: (path, isAutomatic) => (isAutomatic ? getAutomatically(path) : get(path)),
  open: (watches, listener) =>
    openSource(
      `/dashboard/api/live?${new URLSearchParams(watches.map((watch) => ['watch', watch]))}`,
      {
        data: (text) => {
          const { watch, body } = parseResponse(text) as { watch: string; body: unknown };
          listener.data(watch, body);
        },
        refused: (text) => {
          const { watch, status, code } = JSON.parse(text) as { watch: string; status: number; code: string };
          listener.refused(watch, status, code);
        },
      },
      listener,
    ),
  onSignedOut: () => void recoverSession(),
});

export const connection = client.connection;

/** A sign-in in another tab ends the session of this stream, but the browser has a new session then. */
async function recoverSession(): Promise<void> {
  // A user without a session gets the sign-in page. Without a response the stream reconnects.
  if (await renewSession().catch(() => true)) client.wake();
}

export function listenToVisibility(): void {
  onWake(() => client.wake());
}

/** Reloads the page after a change of the user, without waiting for the stream. */
export function refreshLive(): Promise<void> {
  return client.refresh();
}

/**
 * A path of null watches nothing. When the path changes (another range, another filter), the old data stays until the
 * new data arrives.
 */
export function useLive<T>(path: string | null): Live<T> {
  const [, setVersion] = useState(0);
  const shown = useRef<Live<unknown>>(LOADING);
  useEffect(() => {
    if (path === null) return undefined;
    const { view, release } = client.acquire(path);
    const stop = view.subscribe((next) => {
      shown.current = next.state === 'loading' ? { ...next, data: shown.current.data } : next;
      setVersion((version) => version + 1);
    });
    return () => {
      stop();
      release();
    };
  }, [path]);
  return shown.current as Live<T>;
}
