import { Command, Option } from 'commander';
import { expect, test } from 'vitest';
import { usageText } from './usage-text.ts';

const program = new Command('sched');
const schedules = program.command('schedules');
const list = schedules.command('list').option('--limit <number>').option('--state <state>');
const key = program
  .command('key')
  .addOption(new Option('--mode <mode>').choices(['test', 'live']).makeOptionMandatory());

test.each([
  ["unknown option '--stat' (Did you mean --state?)", 'There is no option --stat. Did you mean --state?'],
  [
    "unknown option '--nothing'",
    'There is no option --nothing. "sched schedules list --help" lists the options.',
  ],
  [
    "unknown option '--token=sk_live_x'",
    'There is no option --token. "sched schedules list --help" lists the options.',
  ],
  [
    "unknown command 'schedule' (Did you mean schedules?)",
    'There is no command schedule. Did you mean schedules?',
  ],
  [
    "unknown command 'nothing'",
    'There is no command nothing. "sched schedules list --help" lists the commands.',
  ],
  ["missing required argument 'id'", 'The argument <id> is missing: sched schedules list <id>'],
  ["required option '--mode <mode>' not specified", 'The option --mode <mode> is missing.'],
  ["option '--limit <number>' argument missing", 'The option --limit <number> needs a value.'],
  [
    "option '-n, --count <number>' argument 'x' is invalid. It must be a whole number from 1 to 1000.",
    'The value "x" of --count is not valid. It must be a whole number from 1 to 1000.',
  ],
  [
    "option '--role <role>' argument 'boss' is invalid. Allowed choices are viewer, admin.",
    'The value "boss" of --role is not valid. It must be one of viewer, admin.',
  ],
  [
    "command-argument value 'tcsh' is invalid for argument 'shell'. Allowed choices are bash, zsh.",
    'The value "tcsh" of <shell> is not valid. It must be one of bash, zsh.',
  ],
  [
    "too many arguments for 'completion'. Expected 1 argument but got 2: bash, x.",
    'The command completion takes 1 argument, not 2. Put a value with spaces or *, such as a cron expression, in quotes.',
  ],
  ['something else', 'something else'],
])('%s', (message, sentence) => {
  expect(usageText(message, list)).toBe(sentence);
});

test('a missing option has its choices', () => {
  const message = "required option '--mode <mode>' not specified";
  expect(usageText(message, key)).toBe('The option --mode <mode> is missing. It must be one of test, live.');
});
