import type { Stopwatch, Timers } from '#src/ports/timers.ts';

export const systemTimers: Timers & Stopwatch = {
  after(ms, act) {
    const timer = setTimeout(act, ms);
    return () => clearTimeout(timer);
  },
  elapsed: () => performance.now(),
};
