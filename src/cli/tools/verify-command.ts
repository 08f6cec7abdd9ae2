import type { Command } from 'commander';
import { type CliDependencies, printAnswer } from '#src/cli/command.ts';
import { NegativeAnswer } from '#src/cli/failure.ts';
import { addRepeatable, type Options } from '#src/cli/options.ts';

export function verifyCommand(verify: Command, dependencies: CliDependencies): void {
  verify
    .argument('[file]', 'captured request; default standard input')
    .option('--body <text>', 'raw body, with --header: TEXT, @file or - for standard input')
    .option('--method <method>', 'HTTP method, if no request line was captured; default POST')
    .option('--path <path>', 'path or URL that Sched sent to, if another or none was captured')
    .option('--secret-file <file>', 'file with signing secrets, one on each line [SCHED_SIGNING_SECRET]')
    .option('--tolerance <duration>', 'allowed difference between the timestamp and the clock', '300s')
    .option('--at <instant>', 'check as if it were this instant (RFC 3339); default now')
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      `
A captured request has the request line (optional), the headers, an empty line,
and the exact bytes of the body. An extra line break at the end does no harm.

  POST /hooks/reminder HTTP/1.1
  Sched-Delivery-Id: dlv_…
  …

  {"hello":"world"}

At a terminal, paste the request and press Ctrl-D. The command asks for the
secret unless it is set, and never shows it.

Examples:
  sched verify captured.txt
  sched verify --path /hooks/reminder < captured.txt
  sched verify captured.txt --at 2027-03-28T01:00:05Z

Exit codes: 0 verified, 1 not verified, 2 wrong usage.`,
    );
  addRepeatable(verify, '--header <line>', 'header "Name: value", instead of a captured request');
  verify.action(async (file: string | undefined, options: Options) => {
    const { verifyCaptured: judge } = await import('./verify.ts');
    const { answer, isVerified } = await judge(file, options, dependencies);
    printAnswer(answer, options, dependencies);
    if (!isVerified) throw new NegativeAnswer();
  });
}
