import type { Stopwatch, Timers } from '#src/ports/system.ts';

export const systemTimers: Timers & Stopwatch = {
  after(ms, act) {
    if (ms <= 0) {
      // Timers that are due run one after the other, those that they set included: nothing else would get a word in.
      const immediate = setImmediate(act);
      return () => clearImmediate(immediate);
    }
    const timer = setTimeout(act, ms);
    return () => clearTimeout(timer);
  },
  elapsed: () => performance.now(),
};
