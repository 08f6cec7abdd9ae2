import type { Command } from 'commander';
import { type CliDependencies, printAnswer } from '#src/cli/command.ts';
import { NegativeAnswer } from '#src/cli/failure.ts';
import { addRepeatable, type Options } from '#src/cli/options.ts';

export function verifyCommand(program: Command, dependencies: CliDependencies): void {
  const verify = program
    .command('verify')
    .description('whether a received request was signed by Sched, and if not, why')
    .argument('[file]', 'the request as it was captured; default standard input')
    .option('--body <text>', 'the raw body, with --header: TEXT, @file or - for standard input')
    .option(
      '--method <method>',
      'the method, where no request line was captured; default POST; signed in capitals',
    )
    .option('--path <path>', 'the path or URL that Sched was told, where another or none was captured')
    .option(
      '--secret-file <file>',
      'the signing secret, several on lines of their own [SCHED_SIGNING_SECRET]',
    )
    .option('--tolerance <duration>', 'how far the timestamp may be away', '300s')
    .option('--at <instant>', 'judge as if it were this instant, RFC 3339; default now')
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      `
A captured request is the request line (may be missing), the headers, an empty
line, and the body to the byte (a line break at its end may be too many):

  POST /hooks/reminder HTTP/1.1
  Sched-Delivery-Id: dlv_…
  …

  {"hello":"world"}

At a terminal, paste it and end with Ctrl-D. The secret is asked for there,
unless it is set, and never shown.

Examples:
  sched verify captured.txt
  sched verify --path /hooks/reminder < captured.txt
  sched verify captured.txt --at 2027-03-28T01:00:05Z

Exit codes: 0 verified, 1 not verified, 2 wrong usage.`,
    );
  addRepeatable(verify, '--header <line>', 'a header "Name: value", instead of a captured request');
  verify.action(async (file: string | undefined, options: Options) => {
    const { verifyCaptured: judge } = await import('./verify.ts');
    const { answer, isVerified } = await judge(file, options, dependencies);
    printAnswer(answer, options, dependencies);
    if (!isVerified) throw new NegativeAnswer();
  });
}
