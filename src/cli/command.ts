/** How every command is put together: its settings as flags, its answer as text or JSON. */
import { type Command, Option } from 'commander';
import type { Given } from '#src/app/config.ts';
import { SettingsError } from '#src/app/failures.ts';
import { ROLES, SETTINGS, type Setting } from '#src/app/settings.ts';
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
  /** To standard output, as it is. */
  readonly print: (text: string) => void;
  /** One line on standard error, for what is no part of the answer. */
  readonly notify: (line: string) => void;
  /** What standard output is. */
  readonly screen: Screen;
  readonly clock: Clock;
  readonly timers: Timers;
}

type SettingName = keyof typeof SETTINGS;

/** What one can be, for completion to offer. Whether it is one of these is checked where it is read. */
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

/** The settings given to a command, as flags or by the environment. */
export function readGiven(command: Command, env: CliDependencies['env']): Given {
  const flags: Record<string, string> = {};
  for (const option of command.options) {
    const value: unknown = command.getOptionValue(option.attributeName());
    if (typeof value === 'string' && option.long) flags[option.long] = value;
  }
  return { flags, env };
}

/** Does the work and prints its answer. */
export function addAction(
  command: Command,
  dependencies: CliDependencies,
  work: (given: Given, argument: string) => Promise<Answer>,
): Command {
  return command.option('--json', 'print JSON').action(async () => {
    const answer = await work(readGiven(command, dependencies.env), command.args[0] ?? '');
    printAnswer(answer, command.opts(), dependencies);
  });
}

/** As JSON where `--json` was given. */
export function printAnswer({ json, text }: Answer, options: Options, { print }: CliDependencies): void {
  print(`${isSet(options, 'json') ? jsonLine(json) : text}\n`);
}

export function addProjectOption(command: Command): Command {
  return command.option('--project <name>', 'the project', DEFAULT_PROJECT);
}

export function addModeOption(command: Command): Command {
  return command.addOption(modeOption('test or live').makeOptionMandatory());
}

/** A command with an endpoint profile can do without the option, since a profile is of one mode. */
export function addOptionalModeOption(command: Command): Command {
  return command.addOption(modeOption('test or live; with --endpoint, the mode of the profile'));
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

/** Waits for `ms` milliseconds, or until the signal is aborted. */
export function pause(timers: Timers, ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted) return resolve();
    const end = () => {
      cancel();
      signal?.removeEventListener('abort', end);
      resolve();
    };
    const cancel = timers.after(ms, end);
    signal?.addEventListener('abort', end, { once: true });
  });
}
