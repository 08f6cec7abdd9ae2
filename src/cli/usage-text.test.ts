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

test.each([
  [['https://example.com/hook'], 'takes 0 arguments, not 1. Give the URL with --endpoint.'],
  [['https://example.com/hook', 'a', 'b'], 'not 3. Give the URL with --endpoint. Put a value with spaces'],
  [['a', 'b'], 'takes 0 arguments, not 2. Put a value with spaces or *'],
])('the arguments %j of a command with --endpoint', (words, sentence) => {
  const lines: string[] = [];
  const parent = new Command('sched').exitOverride();
  const create = parent
    .command('create')
    .option('--endpoint <url>')
    .option('--url <url>')
    .action(() => {})
    .configureOutput({ outputError: (text) => lines.push(usageText(text.replace(/^error: /, ''), create)) });
  expect(() => parent.parse(['create', ...words], { from: 'user' })).toThrow();
  expect(lines.join('')).toContain(sentence);
});

test('a flag for an API key', () => {
  const tail = program.command('tail').option('--api-key-file <path>');
  for (const command of [tail, program]) {
    for (const flag of ['--api-key', '--token=sk_live_x']) {
      const text = usageText(`unknown option '${flag}'`, command);
      expect(text).toContain('Set SCHED_API_KEY, or name a file with --api-key-file.');
      expect(text).not.toContain('sk_live_x');
    }
  }
});

test('a missing option has its choices', () => {
  const message = "required option '--mode <mode>' not specified";
  expect(usageText(message, key)).toBe('The option --mode <mode> is missing. It must be one of test, live.');
});
