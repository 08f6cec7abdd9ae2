/**
 * Measures how late the event loop runs a timer. All work of the process waits for this one thread, so the delay
 * is the time for which one piece of work blocked all others.
 */
const SAMPLE_MS = 10;
const MS_PER_SECOND = 1_000;

/** Reports each delay in seconds. The returned function stops the measurement. */
export function watchEventLoop(observe: (seconds: number) => void): () => void {
  let lastAt = performance.now();
  const timer = setInterval(() => {
    const now = performance.now();
    observe(Math.max(now - lastAt - SAMPLE_MS, 0) / MS_PER_SECOND);
    lastAt = now;
  }, SAMPLE_MS);
  timer.unref();
  return () => clearInterval(timer);
}
