/** How every command is put together: its settings as flags, its answer as text or JSON. */
import { type Command, Option } from 'commander';
import type { Given } from '#src/app/config.ts';
import { SETTINGS, type Setting } from '#src/app/settings.ts';
import { DEFAULT_PROJECT } from '#src/control/bootstrap.ts';
import { MODES, type Mode } from '#src/domain/partition.ts';
import type { Answer } from './output.ts';

export interface CliWorld {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly print: (text: string) => void;
}

export function addSettings(command: Command, settings: readonly (keyof typeof SETTINGS)[]): Command {
  for (const name of settings) command.addOption(optionOf(SETTINGS[name]));
  return command;
}

function optionOf({ flag, value, about, env, fallback }: Setting<unknown>): Option {
  const origin = fallback === null ? env : `${env}, default ${fallback}`;
  return new Option(`${flag} <${value}>`, `${about.replaceAll('`', '')} [${origin}]`);
}

/** The settings given to a command, as flags or by the environment. */
export function givenTo(command: Command, env: CliWorld['env']): Given {
  const flags: Record<string, string> = {};
  for (const option of command.options) {
    const value: unknown = command.getOptionValue(option.attributeName());
    if (typeof value === 'string' && option.long) flags[option.long] = value;
  }
  return { flags, env };
}

/** Does the work and prints its answer. */
export function answering(
  command: Command,
  world: CliWorld,
  work: (given: Given, argument: string) => Promise<Answer>,
): Command {
  return command.option('--json', 'print JSON').action(async () => {
    const answer = await work(givenTo(command, world.env), command.args[0] ?? '');
    world.print(`${command.getOptionValue('json') === true ? JSON.stringify(answer.json) : answer.text}\n`);
  });
}

export function addProjectOption(command: Command): Command {
  return command.option('--project <name>', 'the project', DEFAULT_PROJECT);
}

export function addModeOption(command: Command): Command {
  return command.addOption(new Option('--mode <mode>', 'test or live').choices(MODES).makeOptionMandatory());
}

export function projectOf({ flags }: Given): string {
  return flags['--project'] ?? DEFAULT_PROJECT;
}

export function modeOf({ flags }: Given): Mode {
  const mode = MODES.find((mode) => mode === flags['--mode']);
  if (mode === undefined) throw new Error('The option --mode was not checked.');
  return mode;
}
