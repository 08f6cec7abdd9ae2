import type { Command } from 'commander';
import { type CliDependencies, printAnswer } from '#src/cli/command.ts';
import { countParser, type Options, textOf } from '#src/cli/options.ts';

const RUNS_DEFAULT = 5;
const RUNS_MAX = 1_000;

export function previewCommand(program: Command, dependencies: CliDependencies): void {
  const command = program
    .command('preview')
    .description('when a cron expression or a wall-clock time fires, and what clock changes do to it')
    .argument('[cron]', 'five fields: minute, hour, day of month, month, day of week')
    .option('--local <time>', 'a wall-clock time instead: YYYY-MM-DDTHH:MM:SS')
    .option('--tz <zone>', 'an IANA time zone', 'UTC')
    .option('-n, --count <number>', `how many runs, at most ${RUNS_MAX}`, countParser(RUNS_MAX), RUNS_DEFAULT)
    .option('--from <instant>', 'as if it were this instant, RFC 3339; default now')
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      `
Nothing is sent anywhere: the rules are those of the service.

Examples:
  sched preview "0 9 * * MON-FRI" --tz Europe/Berlin
  sched preview "30 2 * * *" --tz Europe/Berlin --from 2027-03-26T00:00:00Z
  sched preview --local 2027-10-31T02:30:00 --tz Europe/Berlin`,
    );
  command.action(async (cron: string | undefined, options: Options) => {
    // Loaded only here: no other tool needs the zones.
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
