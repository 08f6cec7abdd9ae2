/** The `sched` process: builds the command tree, runs the command that was typed, and sets the exit code. */
import { type Command, CommanderError } from 'commander';
import { messageOf, SettingsError } from '#src/app/failures.ts';
import { systemClock, systemTimers } from '#src/app/process.ts';
import { type ControlCode, ControlRefusal } from '#src/control/refusal.ts';
import { CommandFailure, EXIT, type Exit, NegativeAnswer } from './failure.ts';
import { buildProgram } from './program.ts';
import { printable } from './terminal/printable.ts';
import { screenOf } from './terminal/screen.ts';

/** Refusals that concern what the user typed, not what is stored. */
const USAGE_CODES: ReadonlySet<ControlCode> = new Set([
  'invalid_project_name',
  'invalid_overlap',
  'too_many_projects',
]);

export async function main(): Promise<void> {
  let isOutputLost = false;
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    // A reader may close the pipe early (`sched key list | head -1`). That is not an error.
    if (error.code === 'EPIPE' || isOutputLost) return;
    isOutputLost = true;
    printError(`The answer cannot be written: ${error.message}.`);
    process.exitCode = EXIT.failed;
  });
  const exit = await run(process.argv);
  process.exitCode = isOutputLost ? EXIT.failed : exit;
}

async function run(argv: readonly string[]): Promise<Exit> {
  const { env } = process;
  const words = argv.slice(2);
  const dependencies = {
    env,
    print: (text: string) => void process.stdout.write(text),
    notify: printError,
    screen: screenOf(process.stdout, env, words.includes('--no-color')),
    clock: systemClock,
    timers: systemTimers,
  };
  const program = await buildProgram(
    dependencies,
    words.find((word) => !word.startsWith('-')),
  );
  visitCommands(program, (command) => {
    command.exitOverride().configureOutput({ outputError: printError }).showSuggestionAfterError();
  });
  try {
    await program.parseAsync(argv);
    return EXIT.done;
  } catch (error) {
    // Commander has already printed the error, the help or the version.
    if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.done : EXIT.wrongUsage;
    if (!(error instanceof NegativeAnswer)) printError(messageOf(error));
    return exitOf(error);
  }
}

function visitCommands(command: Command, visit: (command: Command) => void): void {
  visit(command);
  for (const child of command.commands) visitCommands(child, visit);
}

function exitOf(error: unknown): Exit {
  if (error instanceof CommandFailure) return error.exit;
  const isUsage =
    error instanceof SettingsError || (error instanceof ControlRefusal && USAGE_CODES.has(error.code));
  return isUsage ? EXIT.wrongUsage : EXIT.failed;
}

/** Prints one line on standard error. Line breaks and control characters are removed. */
function printError(text: string): void {
  const line = text
    .trim()
    .replace(/^error: /, '')
    .replaceAll(/\s+/g, ' ');
  process.stderr.write(`sched: ${printable(line)}\n`);
}
