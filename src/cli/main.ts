/**
 * The `sched` process: runs the command that was typed, and sets the exit code. `--version` is answered here. Everything
 * else loads the command tree.
 */
import { packageVersion } from '#src/app/process.ts';
import type { Settings } from '#src/app/settings.ts';
import { EXIT, type Exit } from './failure.ts';
import type { CommandIo } from './run-program.ts';
import { errorLine } from './terminal/printable.ts';

const VERSION_FLAGS: ReadonlySet<string | undefined> = new Set(['-v', '--version']);

export async function main(): Promise<void> {
  let isOutputLost = false;
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    // A reader may close the pipe early (`sched key list | head -1`). That is not an error.
    if (error.code === 'EPIPE' || isOutputLost) return;
    isOutputLost = true;
    process.stderr.write(errorLine(`The answer cannot be written: ${error.message}.`));
    process.exitCode = EXIT.failed;
  });
  const { argv, env, stdout, stderr } = process;
  const exit = await runCommand(argv.slice(2), { env, stdout, stderr, serve });
  process.exitCode = isOutputLost ? EXIT.failed : exit;
}

async function serve(settings: Settings): Promise<void> {
  // The server is most of the code. Loading it here keeps all other commands fast.
  const { runService } = await import('#src/app/run-service.ts');
  await runService(settings);
}

/** Runs the command that these words name. It uses nothing of the process but standard input and signals. */
export async function runCommand(words: readonly string[], io: CommandIo): Promise<Exit> {
  if (VERSION_FLAGS.has(words[0])) {
    io.stdout.write(`${packageVersion()}\n`);
    return EXIT.done;
  }
  const { runProgram } = await import('./run-program.ts');
  return runProgram(words, io);
}
