/** The process: runs the command it was called with, and ends with its exit code. */
import { EXIT } from './failure.ts';
import { run } from './run.ts';

export async function main(): Promise<void> {
  let isOutputLost = false;
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    // A reader that has gone away (`sched key list | head -1`) is no fault.
    if (error.code === 'EPIPE' || isOutputLost) return;
    isOutputLost = true;
    process.stderr.write(`sched: The answer cannot be written: ${error.message}.\n`);
    process.exitCode = EXIT.failed;
  });
  const exit = await run(process.argv);
  process.exitCode = isOutputLost ? EXIT.failed : exit;
}
