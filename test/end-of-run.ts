/**
 * Runs clean-ups when this process ends, in whatever way except SIGKILL: processes and folders of tests must not stay.
 * A worker of vitest gets a signal when it is stopped, and is disconnected when its parent dies.
 */
const cleanUps: (() => void)[] = [];

process.on('exit', cleanUp);
for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, end);
process.once('disconnect', end);

/** The function must be synchronous, because promises no longer run. */
export function atEndOfRun(act: () => void): void {
  cleanUps.push(act);
}

function end(): void {
  try {
    process.exit(1);
  } catch {
    // While a test file runs, vitest lets nothing in its worker call process.exit. The worker would go on alone.
    cleanUp();
    process.kill(process.pid, 'SIGKILL');
  }
}

function cleanUp(): void {
  for (const act of cleanUps.splice(0)) act();
}
