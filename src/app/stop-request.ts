/**
 * Waits for a request to stop: SIGTERM, SIGINT, or the end of the parent process under npm.
 *
 * `npm start` puts a shell between npm and the service. npm passes a SIGTERM to that shell, which ends
 * without passing it on. The service would keep running and hold its port and its data directory. Some shells
 * replace themselves with the service instead. Then a Ctrl-C arrives twice, from the terminal and from npm.
 */
const SAME_SIGNAL_MS = 250;
const PARENT_CHECK_MS = 250;

export type StopRequest = NodeJS.Signals | 'parent ended';

/** Listens from the start of the process: a request during the start takes effect right after it. */
export function stopRequest(underNpm: boolean): Promise<StopRequest> {
  return new Promise((resolve) => {
    onSignals(resolve);
    if (underNpm) onParentEnd(resolve);
  });
}

function onSignals(stop: (signal: NodeJS.Signals) => void): void {
  let firstAt: number | null = null;
  const onSignal = (signal: NodeJS.Signals) => {
    if (firstAt === null) {
      firstAt = performance.now();
      stop(signal);
    } else if (performance.now() - firstAt > SAME_SIGNAL_MS) process.exit(1);
  };
  process.on('SIGTERM', onSignal).on('SIGINT', onSignal);
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
