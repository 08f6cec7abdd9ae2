/**
 * Long timers in a fraction of their time, for a process that knows nothing of it: a module to be imported
 * before the service (`node --import`). What waits for 20 s or more is hurried, the rest is as it was.
 */
const hurry = Number(process.env.TIMERS_HURRIED_BY);
const LONG_MS = 20_000;

const realSetTimeout = globalThis.setTimeout;

function hurried(act: (...args: unknown[]) => void, ms = 0, ...args: unknown[]): NodeJS.Timeout {
  return realSetTimeout(act, ms >= LONG_MS ? ms / hurry : ms, ...args);
}

globalThis.setTimeout = Object.assign(hurried, realSetTimeout);
