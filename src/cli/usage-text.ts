/** Says in plain sentences what is wrong with the words that the user typed. Commander says it in fragments. */
import type { Command } from 'commander';
import { elsewhereText, meantCommands, meantFlags, pathOf } from './meant-words.ts';

const SENTENCES: readonly (readonly [RegExp, string])[] = [
  [/^option '(.+?)' argument missing/, 'The option $1 needs a value.'],
  [/^option '(?:-\w, )?(--[\w-]+)[^']*' argument '(.*?)' is invalid\./, 'The value "$2" of $1 is not valid.'],
  [
    /^command-argument value '(.*?)' is invalid for argument '(.+?)'\./,
    'The value "$1" of <$2> is not valid.',
  ],
  [/ Allowed choices are /, ' It must be one of '],
];

const TOO_MANY = /^too many arguments for '(.+?)'\. Expected (\d+) arguments? but got (\d+)/;
const URL_START = /^https?:\/\//i;
const FAULT = /^(unknown option|unknown command|missing required argument|required option) '(.+?)'/;
const SUGGESTION = / \(Did you mean (.+?)\?\)$/;

/** `message` is one line of commander about `command`. Text that no sentence is known for stays as it is. */
export function usageText(message: string, command: Command): string {
  const [, suggested] = SUGGESTION.exec(message) ?? [];
  const [, kind = '', word = ''] = FAULT.exec(message) ?? [];
  // The value of a flag may be a secret.
  const flag = word.replace(/=.*$/, '');
  switch (kind) {
    case 'unknown option':
      return `There is no option ${flag}.${optionAdvice(flag, suggested, command)}`;
    case 'unknown command':
      return `There is no command ${word}.${commandAdvice(word, suggested, command)}`;
    case 'missing required argument':
      return `The argument <${word}> is missing: ${pathOf(command)} <${word}>`;
    case 'required option':
      return `The option ${word} is missing.${choicesOf(word, command)}`;
    default:
      return (
        tooManyText(message, command) ??
        SENTENCES.reduce((line, [pattern, sentence]) => line.replace(pattern, sentence), message)
      );
  }
}

function tooManyText(message: string, command: Command): string | null {
  const [found, name = '', allowed = '', given = ''] = TOO_MANY.exec(message) ?? [];
  if (found === undefined) return null;
  const urlFlag = command.args.some((word) => URL_START.test(word)) ? urlFlagOf(command) : null;
  const advice = urlFlag === null ? [] : [`Give the URL with ${urlFlag}.`];
  if (urlFlag === null || Number(given) > Number(allowed) + 1)
    advice.push('Put a value with spaces or *, such as a cron expression, in quotes.');
  const count = `${allowed} argument${allowed === '1' ? '' : 's'}`;
  return [`The command ${name} takes ${count}, not ${given}.`, ...advice].join(' ');
}

/** The flag for a URL that was given as an argument: the destination, or the address of the service. */
function urlFlagOf({ options }: Command): string | null {
  return (
    ['--endpoint <url>', '--url <url>']
      .find((flag) => options.some(({ flags }) => flags === flag))
      ?.split(' ')[0] ?? null
  );
}

function optionAdvice(flag: string, suggested: string | undefined, command: Command): string {
  const elsewhere = elsewhereText(flag, command);
  if (elsewhere !== null) return ` ${elsewhere}`;
  const meant = meantFlags(flag, command) ?? suggested;
  return meant === undefined ? ` "${pathOf(command)} --help" lists the options.` : ` Did you mean ${meant}?`;
}

function commandAdvice(word: string, suggested: string | undefined, command: Command): string {
  const meant = meantCommands(word, command) ?? suggested;
  return meant === undefined ? ` "${pathOf(command)} --help" lists the commands.` : ` Did you mean ${meant}?`;
}

function choicesOf(flags: string, { options }: Command): string {
  const choices = options.find((option) => option.flags === flags)?.argChoices;
  return choices === undefined ? '' : ` It must be one of ${choices.join(', ')}.`;
}
