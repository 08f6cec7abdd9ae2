/** Says in plain sentences what is wrong with the words that the user typed. Commander says it in fragments. */

const SENTENCES: readonly (readonly [RegExp, string])[] = [
  [/^unknown option '(.+?)'/, 'There is no option $1.'],
  [/^unknown command '(.+?)'/, 'There is no command $1.'],
  [/^missing required argument '(.+?)'/, 'The argument <$1> is missing.'],
  [/^required option '(.+?)' not specified/, 'The option $1 is missing.'],
  [/^option '(.+?)' argument missing/, 'The option $1 needs a value.'],
  [/^option '(?:-\w, )?(--[\w-]+)[^']*' argument '(.*?)' is invalid\./, 'The value "$2" of $1 is not valid.'],
  [
    /^command-argument value '(.*?)' is invalid for argument '(.+?)'\./,
    'The value "$1" of <$2> is not valid.',
  ],
  [
    /^too many arguments for '(.+?)'\. Expected (\d+ arguments?) but got (\d+)/,
    'The command $1 takes $2, not $3',
  ],
  [/ Allowed choices are /, ' It must be one of '],
  [/ \(Did you mean (.+?)\?\)$/, ' Did you mean $1?'],
];

/** `message` is one line of Commander. Text that no sentence is known for stays as it is. */
export function usageText(message: string): string {
  const text = SENTENCES.reduce((line, [pattern, sentence]) => line.replace(pattern, sentence), message);
  return text.startsWith('There is no command') && !text.endsWith('?')
    ? `${text} "sched --help" lists the commands.`
    : text;
}
