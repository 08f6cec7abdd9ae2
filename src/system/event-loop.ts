/**
 * How late the event loop comes back to a timer. Everything that fires, serves and settles waits for this thread, so
 * that is how long one piece of work held up all others.
 */
const SAMPLE_MS = 10;
const MS_PER_SECOND = 1_000;

/** Calls back with each delay, in seconds, until the answer is called. */
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
