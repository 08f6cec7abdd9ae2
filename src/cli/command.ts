/** The context that every command gets, and how it prints its answer. This file loads little, because every command loads it. */
import type { Command } from 'commander';
import type { Settings } from '#src/app/settings.ts';
import type { Clock, Timers } from '#src/ports/system.ts';
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

export function addJsonOption(command: Command): Command {
  return command.option('--json', 'print JSON');
}

export function printAnswer(
  { json, text, note }: Answer,
  options: Options,
  { print, notify }: CliDependencies,
): void {
  print(`${isSet(options, 'json') ? jsonLine(json) : text}\n`);
  if (note !== undefined) notify(note);
}
