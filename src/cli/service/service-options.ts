/** Options of the commands that run or administer the service: its settings as flags, the project and the mode. */
import { type Command, Option } from 'commander';
import { CONTROL_SETTINGS, type Given } from '#src/app/config.ts';
import { SettingsError } from '#src/app/failures.ts';
import { ROLES, SETTINGS, type Setting } from '#src/app/settings.ts';
import { addJsonOption, type CliDependencies, printAnswer } from '#src/cli/command.ts';
import type { Answer } from '#src/cli/terminal/output.ts';
import { DEFAULT_PROJECT, MODES, type Mode } from '#src/domain/project.ts';
import { LOG_LEVELS } from '#src/ports/telemetry.ts';

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

export function addControlOptions(command: Command): Command {
  return addJsonOption(addSettings(command, CONTROL_SETTINGS));
}

/**
 * Adds the settings of the store, `--json`, and an action that does the work and prints its answer. The work imports
 * its code itself: the stores are large, and the help of a command does not need them.
 */
export function addAction(
  command: Command,
  dependencies: CliDependencies,
  work: (given: Given, argument: string) => Promise<Answer>,
): Command {
  return addControlOptions(command).action(async () => {
    const answer = await work(readGiven(command, dependencies.env), command.args[0] ?? '');
    printAnswer(answer, command.opts(), dependencies);
  });
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
