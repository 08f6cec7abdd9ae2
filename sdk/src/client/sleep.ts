import { onAbort } from './on-abort.ts';

/** Rejects with the reason of the signal when it is aborted. No timer or listener is left behind. */
export function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) {
      reject(signal.reason as Error);
      return;
    }
    const end = () => {
      clearTimeout(timer);
      removeListener?.();
    };
    const timer = setTimeout(() => {
      end();
      resolve();
    }, ms);
    const abort = () => {
      end();
      reject(signal?.reason as Error);
    };
    const removeListener = signal && onAbort(signal, abort);
  });
}
