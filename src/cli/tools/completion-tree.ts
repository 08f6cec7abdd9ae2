/** The command tree as completion needs it: for each command, the words that can follow. It is derived from commander. */
import type { Command, Option } from 'commander';
import { cutTo } from '#src/cli/terminal/width.ts';
import { NOTIFIED_OUTCOMES } from '#src/domain/notify.ts';

/** The possible values of a word: a fixed set, files, text or `@file`, or names of contexts. Empty means any text. */
export type Values = readonly string[] | 'files' | 'at_files' | 'contexts';

export interface CompletionFlag {
  readonly name: string;
  readonly about: string;
  readonly takesValue: boolean;
  readonly values: Values;
}

export interface CompletionNode {
  /** The words of the command, such as `sched schedules list`. */
  readonly path: string;
  readonly about: string;
  readonly commands: readonly { readonly name: string; readonly about: string }[];
  readonly flags: readonly CompletionFlag[];
  /** The possible values of the first argument. */
  readonly values: Values;
}

const ABOUT_CHARACTERS_MAX = 60;
/** The possible values, by the placeholder in the help. */
const NAMED_VALUES: ReadonlyMap<string, Values> = new Map<string, Values>([
  ['file', 'files'],
  ['path', 'files'],
  ['context', 'contexts'],
  ['outcomes', [...NOTIFIED_OUTCOMES, 'none']],
]);

export function nodesOf(program: Command): readonly CompletionNode[] {
  return collectNodes(program, program.name(), program.options.filter(isForAll));
}

/** Flags of the program that every command accepts. */
function isForAll({ long }: Option): boolean {
  return long === '--no-color';
}

function collectNodes(command: Command, path: string, common: readonly Option[]): readonly CompletionNode[] {
  const commands = command.commands.map((child) => ({
    name: child.name(),
    about: shorten(child.description()),
  }));
  const options = [...command.options, ...common.filter((option) => !command.options.includes(option))];
  const [argument] = command.registeredArguments;
  const node: CompletionNode = {
    path,
    about: shorten(command.description()),
    commands,
    flags: [...options.map(flagOf), { ...HELP }],
    values: argument?.argChoices ?? NAMED_VALUES.get(argument?.name() ?? '') ?? [],
  };
  return [
    node,
    ...command.commands.flatMap((child) => collectNodes(child, `${path} ${child.name()}`, common)),
  ];
}

const HELP: CompletionFlag = {
  name: '--help',
  about: 'print this help',
  takesValue: false,
  values: [],
};

function flagOf(option: Option): CompletionFlag {
  const [, value = ''] = /<([^>]+)>/.exec(option.flags) ?? [];
  return {
    name: option.long ?? option.short ?? '',
    about: shorten(option.description),
    takesValue: option.required || option.optional,
    values: option.argChoices ?? NAMED_VALUES.get(value) ?? (isTextOrFile(option) ? 'at_files' : []),
  };
}

function isTextOrFile({ description }: Option): boolean {
  return description.includes('TEXT, @file');
}

/** Keeps the first sentence, because a shell shows descriptions on one line. */
function shorten(text: string): string {
  const [sentence = ''] = text.split(/ \[|[.:;\n]\s/, 1);
  return cutTo(sentence, ABOUT_CHARACTERS_MAX);
}

/** Matches the line of a context name in the context file as this program writes it: indented by four spaces. */
export const CONTEXT_LINE = '^ {4}"([a-z0-9_-]+)": \\{';

/** Puts a text into single quotes, for any shell. */
export function quote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

export function quoteWords(texts: readonly string[]): string {
  return quote(texts.join(' '));
}

/** Whether there is anything to offer. */
export function hasValues(values: Values): boolean {
  return values.length > 0;
}
