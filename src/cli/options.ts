/** Reads the options of a command as commander passes them, and adds common kinds of options. */
import { type Command, InvalidArgumentError, Option } from 'commander';

export type Options = Readonly<Record<string, unknown>>;

export function textOf(options: Options, name: string): string | undefined {
  const value = options[name];
  return typeof value === 'string' ? value : undefined;
}

export function textsOf(options: Options, name: string): readonly string[] {
  const value = options[name];
  return Array.isArray(value) ? value.filter((each) => typeof each === 'string') : [];
}

export function isSet(options: Options, name: string): boolean {
  return options[name] === true;
}

/** Returns a parser for a whole number from 1 to `max`. */
export function countParser(max: number): (text: string) => number {
  return (text) => {
    const count = Number(text);
    if (Number.isInteger(count) && count >= 1 && count <= max) return count;
    throw new InvalidArgumentError(`It must be a whole number from 1 to ${max}.`);
  };
}

/** Adds an option that can be given several times. */
export function addRepeatable(command: Command, flags: string, about: string): Command {
  const collect = (value: string, before: readonly string[] | undefined) => [...(before ?? []), value];
  return command.addOption(new Option(flags, `${about}; repeatable`).argParser(collect));
}

/** Adds an option with a fixed set of values. */
export function addChoice(
  command: Command,
  flags: string,
  about: string,
  choices: readonly string[],
): Command {
  return command.addOption(new Option(flags, about).choices(choices));
}
