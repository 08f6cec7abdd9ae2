/**
 * Timers of 20 s or more run in a fraction of their time. Shorter ones are unchanged. A service in the thread of the
 * tests gets such timers. A process imports this module before the service (`node --import`).
 */
import type { Timers } from '#src/ports/system.ts';
import { systemTimers } from '#src/system/timers.ts';

const LONG_MS = 20_000;

function fastMs(ms: number, factor: number): number {
  return ms >= LONG_MS ? ms / factor : ms;
}

export function fastTimers(factor: number): Timers {
  return { after: (ms, act) => systemTimers.after(fastMs(ms, factor), act) };
}

function replaceSetTimeout(factor: number): void {
  const realSetTimeout = globalThis.setTimeout;
  const setFastTimeout = (act: (...args: unknown[]) => void, ms = 0, ...args: unknown[]) =>
    realSetTimeout(act, fastMs(ms, factor), ...args);
  globalThis.setTimeout = Object.assign(setFastTimeout, realSetTimeout);
}

const { TIMERS_FASTER_BY } = process.env;
if (TIMERS_FASTER_BY !== undefined) replaceSetTimeout(Number(TIMERS_FASTER_BY));
