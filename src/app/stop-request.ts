/**
 * What asks the service to stop: SIGTERM, SIGINT, or under npm the end of its parent.
 *
 * `npm start` puts a shell between npm and the service. npm passes a SIGTERM on to that shell, which dies of
 * it without telling anyone; the service would live on, and hold its port and its data directory. Other
 * shells make way for the service; then a Ctrl-C arrives twice, from the terminal and again from npm.
 */
const SAME_SIGNAL_MS = 250;
const PARENT_CHECK_MS = 250;

export type StopRequest = NodeJS.Signals | 'parent ended';

/** Heard from the very beginning: a request that comes while starting is obeyed right after. */
export function stopRequest(underNpm: boolean): Promise<StopRequest> {
  return new Promise((resolve) => {
    onSignals(resolve);
    if (underNpm) onParentEnd(resolve);
  });
}

function onSignals(stop: (signal: NodeJS.Signals) => void): void {
  let firstAt: number | null = null;
  const heard = (signal: NodeJS.Signals) => {
    if (firstAt === null) {
      firstAt = performance.now();
      stop(signal);
    } else if (performance.now() - firstAt > SAME_SIGNAL_MS) process.exit(1);
  };
  process.on('SIGTERM', heard).on('SIGINT', heard);
}

function onParentEnd(stop: (request: 'parent ended') => void): void {
  const parent = process.ppid;
  const check = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(check);
    stop('parent ended');
  }, PARENT_CHECK_MS);
  check.unref();
}
