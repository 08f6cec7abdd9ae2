/** The `sched` command. Exit codes: 0 done, 1 it could not be done, 2 wrong usage or settings. */
import { type Command, CommanderError } from 'commander';
import { messageOf, SettingsError } from '#src/app/failures.ts';
import { type ControlCode, ControlRefusal } from '#src/control/refusal.ts';
import { buildProgram } from './program.ts';

const DONE = 0;
const FAILED = 1;
const WRONG_USAGE = 2;

/** Refusals of what was typed, rather than of what is stored. */
const USAGE_CODES: ReadonlySet<ControlCode> = new Set(['invalid_project_name', 'invalid_overlap']);

export async function run(argv: readonly string[]): Promise<number> {
  const program = buildProgram({ env: process.env, print: (text) => process.stdout.write(text) });
  everyCommand(program, (command) => {
    command.exitOverride().configureOutput({ outputError: (text) => complain(text) });
  });
  try {
    await program.parseAsync(argv);
    return DONE;
  } catch (error) {
    // Commander has said what is wrong, or printed the help or the version.
    if (error instanceof CommanderError) return error.exitCode === 0 ? DONE : WRONG_USAGE;
    complain(messageOf(error));
    return isUsage(error) ? WRONG_USAGE : FAILED;
  }
}

function everyCommand(command: Command, visit: (command: Command) => void): void {
  visit(command);
  for (const child of command.commands) everyCommand(child, visit);
}

function isUsage(error: unknown): boolean {
  return error instanceof SettingsError || (error instanceof ControlRefusal && USAGE_CODES.has(error.code));
}

/** One line, whatever it was. */
function complain(text: string): void {
  const line = text
    .trim()
    .replace(/^error: /, '')
    .replaceAll(/\s*\n\s*/g, ' ');
  process.stderr.write(`sched: ${line}\n`);
}
