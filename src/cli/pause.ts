import type { Timers } from '#src/ports/timers.ts';

/** Waits so long, or until the signal if that is sooner. */
export function pause(timers: Timers, ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted) return resolve();
    const end = () => {
      callOff();
      signal?.removeEventListener('abort', end);
      resolve();
    };
    const callOff = timers.after(ms, end);
    signal?.addEventListener('abort', end, { once: true });
  });
}
