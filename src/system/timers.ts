import type { Timers } from '#src/ports/timers.ts';

export const systemTimers: Timers = {
  after(ms, act) {
    const timer = setTimeout(act, ms);
    return () => clearTimeout(timer);
  },
};
