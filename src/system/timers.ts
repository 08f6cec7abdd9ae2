import type { Stopwatch, Timers } from '#src/ports/system.ts';

export const systemTimers: Timers & Stopwatch = {
  after(ms, act) {
    if (ms <= 0) {
      // setTimeout(0) would run due timers, and those that they set, before any I/O.
      const immediate = setImmediate(act);
      return () => clearImmediate(immediate);
    }
    const timer = setTimeout(act, ms);
    return () => clearTimeout(timer);
  },
  elapsed: () => performance.now(),
};
