/** The clock and the timers of this machine, for commands: they take them as ports, like everything above `system`. */
export { systemClock } from '#src/system/clock.ts';
export { systemTimers } from '#src/system/timers.ts';
