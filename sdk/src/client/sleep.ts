import { onAbort } from './on-abort.ts';

/** Rejects with the signal's reason as soon as it is aborted; leaves neither a timer nor a listener. */
export function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) {
      reject(signal.reason as Error);
      return;
    }
    const end = () => {
      clearTimeout(timer);
      forget?.();
    };
    const timer = setTimeout(() => {
      end();
      resolve();
    }, ms);
    const abort = () => {
      end();
      reject(signal?.reason as Error);
    };
    const forget = signal && onAbort(signal, abort);
  });
}
