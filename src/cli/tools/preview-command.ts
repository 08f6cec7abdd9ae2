import type { Command } from 'commander';
import { type CliDependencies, printAnswer } from '#src/cli/command.ts';
import { countParser, type Options, textOf } from '#src/cli/options.ts';

const RUNS_DEFAULT = 5;
const RUNS_MAX = 1_000;

export function previewCommand(command: Command, dependencies: CliDependencies): void {
  command
    .argument('[cron]', 'five fields: minute, hour, day of month, month, day of week')
    .option('--local <time>', 'wall-clock time instead of a cron expression: YYYY-MM-DDTHH:MM:SS')
    .option('--tz <zone>', 'IANA time zone', 'UTC')
    .option(
      '-n, --count <number>',
      `number of runs, at most ${RUNS_MAX}`,
      countParser(RUNS_MAX),
      RUNS_DEFAULT,
    )
    .option('--from <instant>', 'print runs after this instant (RFC 3339); default now')
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      `
The command needs no service, but follows the same rules. Notes say what clock
changes do to a run.

Examples:
  sched preview "0 9 * * MON-FRI" --tz Europe/Berlin
  sched preview "30 2 * * *" --tz Europe/Berlin --from 2027-03-26T00:00:00Z
  sched preview --local 2027-10-31T02:30:00 --tz Europe/Berlin`,
    );
  command.action(async (cron: string | undefined, options: Options) => {
    // Loaded only here, because no other tool needs the time zones.
    const { preview } = await import('./preview.ts');
    const asked = {
      cron,
      local: textOf(options, 'local'),
      zone: textOf(options, 'tz') ?? '',
      from: textOf(options, 'from'),
      count: Number(options.count),
    };
    const { answer, warning } = preview(asked, dependencies.screen, dependencies.clock.now());
    printAnswer(answer, options, dependencies);
    if (warning !== null) dependencies.notify(`warning: ${warning}`);
  });
}
