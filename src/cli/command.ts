/** Shared parts of all commands: settings as flags, and answers as text or JSON. */
import { type Command, Option } from 'commander';
import type { Given } from '#src/app/config.ts';
import { SettingsError } from '#src/app/failures.ts';
import { ROLES, SETTINGS, type Setting, type Settings } from '#src/app/settings.ts';
import { DEFAULT_PROJECT } from '#src/control/bootstrap.ts';
import { MODES, type Mode } from '#src/domain/project.ts';
import type { Clock, Timers } from '#src/ports/system.ts';
import { LOG_LEVELS } from '#src/ports/telemetry.ts';
import { isSet, type Options } from './options.ts';
import type { Answer } from './terminal/output.ts';
import { jsonLine } from './terminal/printable.ts';
import type { Screen } from './terminal/screen.ts';

export interface CliDependencies {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Writes a text to standard output, unchanged. */
  readonly print: (text: string) => void;
  /** Prints one line on standard error, for messages that are not part of the answer. */
  readonly notify: (line: string) => void;
  /** Width and colours of standard output. */
  readonly screen: Screen;
  /** Runs the service until it ends. */
  readonly serve: (settings: Settings) => Promise<void>;
  readonly clock: Clock;
  readonly timers: Timers;
}

type SettingName = keyof typeof SETTINGS;

/** Values that shell completion offers. The code that reads a setting checks its value. */
const VALUES: Readonly<Partial<Record<SettingName, readonly string[]>>> = {
  role: ROLES,
  logLevel: LOG_LEVELS,
};

export function addSettings(command: Command, settings: readonly SettingName[]): Command {
  for (const name of settings) command.addOption(toOption(SETTINGS[name], VALUES[name]));
  return command;
}

function toOption(
  { flag, value, about, env, fallback }: Setting<unknown>,
  values: readonly string[] | undefined,
): Option {
  const origin = fallback === null ? env : `${env}, default ${fallback}`;
  const option = new Option(`${flag} <${value}>`, `${about.replaceAll('`', '')} [${origin}]`);
  if (values !== undefined) option.argChoices = [...values];
  return option;
}

/** Collects the settings that a command was given, as flags and in the environment. */
export function readGiven(command: Command, env: CliDependencies['env']): Given {
  const flags: Record<string, string> = {};
  for (const option of command.options) {
    const value: unknown = command.getOptionValue(option.attributeName());
    if (typeof value === 'string' && option.long) flags[option.long] = value;
  }
  return { flags, env };
}

/** Adds `--json` and an action that does the work and prints its answer. */
export function addAction(
  command: Command,
  dependencies: CliDependencies,
  work: (given: Given, argument: string) => Promise<Answer>,
): Command {
  return addJsonOption(command).action(async () => {
    const answer = await work(readGiven(command, dependencies.env), command.args[0] ?? '');
    printAnswer(answer, command.opts(), dependencies);
  });
}

export function addJsonOption(command: Command): Command {
  return command.option('--json', 'print JSON');
}

export function printAnswer({ json, text }: Answer, options: Options, { print }: CliDependencies): void {
  print(`${isSet(options, 'json') ? jsonLine(json) : text}\n`);
}

export function addProjectOption(command: Command): Command {
  return command.option('--project <name>', 'the project', DEFAULT_PROJECT);
}

export function addModeOption(command: Command): Command {
  return command.addOption(modeOption('test or live').makeOptionMandatory());
}

/** An endpoint profile belongs to one mode, so a command with `--endpoint` does not need `--mode`. */
export function addOptionalModeOption(command: Command): Command {
  return command.addOption(modeOption('test or live; not needed with --endpoint'));
}

function modeOption(description: string): Option {
  return new Option('--mode <mode>', description).choices(MODES);
}

export function projectOf({ flags }: Given): string {
  return flags['--project'] ?? DEFAULT_PROJECT;
}

export function modeOf({ flags }: Given): Mode {
  const mode = MODES.find((mode) => mode === flags['--mode']);
  if (mode === undefined) throw new SettingsError('The option --mode is required: test or live.');
  return mode;
}
