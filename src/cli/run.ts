/** The `sched` command: builds the tree, runs what was called and turns how it ended into an exit code. */
import { type Command, CommanderError } from 'commander';
import { messageOf, SettingsError } from '#src/app/failures.ts';
import { systemClock, systemTimers } from '#src/app/machine.ts';
import { type ControlCode, ControlRefusal } from '#src/control/refusal.ts';
import { AnsweredNo, CommandFailure, EXIT, type Exit } from './failure.ts';
import { buildProgram } from './program.ts';
import { printable } from './terminal/printable.ts';
import { screenOf } from './terminal/screen.ts';

/** Refusals of what was typed, rather than of what is stored. */
const USAGE_CODES: ReadonlySet<ControlCode> = new Set([
  'invalid_project_name',
  'invalid_overlap',
  'too_many_projects',
]);

export async function run(argv: readonly string[]): Promise<Exit> {
  const { env } = process;
  const words = argv.slice(2);
  const dependencies = {
    env,
    print: (text: string) => void process.stdout.write(text),
    tell: complain,
    screen: screenOf(process.stdout, env, words.includes('--no-color')),
    clock: systemClock,
    timers: systemTimers,
  };
  const program = await buildProgram(
    dependencies,
    words.find((word) => !word.startsWith('-')),
  );
  everyCommand(program, (command) => {
    command.exitOverride().configureOutput({ outputError: complain }).showSuggestionAfterError();
  });
  try {
    await program.parseAsync(argv);
    return EXIT.done;
  } catch (error) {
    // Commander has said what is wrong, or printed the help or the version.
    if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.done : EXIT.wrongUsage;
    if (!(error instanceof AnsweredNo)) complain(messageOf(error));
    return exitOf(error);
  }
}

function everyCommand(command: Command, visit: (command: Command) => void): void {
  visit(command);
  for (const child of command.commands) everyCommand(child, visit);
}

function exitOf(error: unknown): Exit {
  if (error instanceof CommandFailure) return error.exit;
  const isUsage =
    error instanceof SettingsError || (error instanceof ControlRefusal && USAGE_CODES.has(error.code));
  return isUsage ? EXIT.wrongUsage : EXIT.failed;
}

/** One line, whatever it was. */
function complain(text: string): void {
  process.stderr.write(
    `sched: ${printable(
      text
        .trim()
        .replace(/^error: /, '')
        .replaceAll(/\s+/g, ' '),
    )}\n`,
  );
}
