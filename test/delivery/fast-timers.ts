/**
 * A module for `node --import` that shortens long timers of a process. Timers of 20 s or more run in a
 * fraction of their time. Shorter ones are unchanged.
 */
const factor = Number(process.env.TIMERS_FASTER_BY);
const LONG_MS = 20_000;

const realSetTimeout = globalThis.setTimeout;

function setFastTimeout(act: (...args: unknown[]) => void, ms = 0, ...args: unknown[]): NodeJS.Timeout {
  return realSetTimeout(act, ms >= LONG_MS ? ms / factor : ms, ...args);
}

globalThis.setTimeout = Object.assign(setFastTimeout, realSetTimeout);
