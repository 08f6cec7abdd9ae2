/** Builds the command tree, runs the command that was typed, and turns its errors into lines and exit codes. */
import { type Command, CommanderError } from 'commander';
import { messageOf, SettingsError } from '#src/app/failures.ts';
import { systemClock, systemTimers } from '#src/app/process.ts';
import { type ControlCode, ControlRefusal } from '#src/control/refusal.ts';
import type { CliDependencies } from './command.ts';
import { CommandFailure, EXIT, type Exit, NegativeAnswer } from './failure.ts';
import { buildOverview, buildProgram } from './program.ts';
import { errorLine, joinLines } from './terminal/printable.ts';
import { screenOf } from './terminal/screen.ts';
import { wrapTo } from './terminal/width.ts';
import { usageText } from './usage-text.ts';

/** Refusals that concern the user's input, not the stored data. */
const USAGE_CODES: ReadonlySet<ControlCode> = new Set([
  'invalid_project_name',
  'invalid_overlap',
  'too_many_projects',
  'invalid_channel_name',
  'invalid_channel_url',
  'invalid_threshold',
  'invalid_window',
  'invalid_channels',
]);

/** Streams that a command writes to. */
export interface CommandIo {
  readonly env: CliDependencies['env'];
  readonly stdout: OutputStream;
  readonly stderr: OutputStream;
  /** Runs the service until it ends. */
  readonly serve: CliDependencies['serve'];
}

interface OutputStream {
  readonly isTTY?: boolean;
  readonly columns?: number;
  write(text: string): unknown;
}

export async function runProgram(words: readonly string[], io: CommandIo): Promise<Exit> {
  const { env, stdout, stderr } = io;
  const errorColumns = screenOf(stderr, env, true).columns;
  const printError = (text: string) => {
    const line = errorLine(text);
    stderr.write(errorColumns === null ? line : `${wrapTo(line, errorColumns)}\n`);
  };
  const dependencies = {
    env,
    print: (text: string) => void stdout.write(text),
    notify: printError,
    screen: screenOf(stdout, env, words.includes('--no-color')),
    serve: io.serve,
    clock: systemClock,
    timers: systemTimers,
  };
  const [called, ...more] = words.filter((word) => !word.startsWith('-'));
  const isGeneral = called === undefined || (called === 'help' && more.length === 0);
  const program = isGeneral ? buildOverview() : await buildProgram(dependencies, called);
  visitCommands(program, (command) => {
    command
      .exitOverride()
      .configureOutput({
        writeOut: dependencies.print,
        outputError: (text) => printError(usageText(joinLines(text).replace(/^error: /, ''), command)),
      })
      .showSuggestionAfterError();
  });
  try {
    await program.parseAsync(withHelpFlag(words, program), { from: 'user' });
    return EXIT.done;
  } catch (error) {
    // Commander has already printed the error, the help or the version.
    if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.done : EXIT.wrongUsage;
    if (!(error instanceof NegativeAnswer)) printError(messageOf(error));
    return exitOf(error);
  }
}

/** `sched help key create` and `sched key help create` mean `sched key create --help`. */
function withHelpFlag(words: readonly string[], program: Command): readonly string[] {
  const [first, second] = words;
  const isGroup = program.commands.some((each) => each.name() === first && each.commands.length > 0);
  if (first !== 'help' && !(isGroup && second === 'help')) return words;
  const path = words.toSpliced(words.indexOf('help'), 1);
  // For an unknown word, the flag would print the help of its parent, without saying that the word is unknown.
  return areCommands(path, program) ? [...path, '--help'] : path;
}

function areCommands([word, ...rest]: readonly string[], { commands }: Command): boolean {
  const found = commands.find((child) => child.name() === word);
  return found === undefined ? word === undefined || commands.length === 0 : areCommands(rest, found);
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
