import { type Command, Option } from 'commander';
import { SETTINGS } from '#src/app/settings.ts';
import { addSettings, type CliDependencies, givenTo } from '#src/cli/command.ts';
import { paint } from '#src/cli/terminal/screen.ts';

const AFTER_HELP = `
The keys are always the same, and known to everyone: it listens on this machine
alone. SCHED_EGRESS_ALLOW and SCHED_EGRESS_CA_FILE are added to what it allows;
of the other SCHED_ settings only those above count.`;

export function devCommand(program: Command, dependencies: CliDependencies): void {
  const dev = program
    .command('dev')
    .description(
      'run a playground on this machine: fixed keys, plain http to loopback, an inbox that receives',
    )
    .addHelpText('after', AFTER_HELP);
  addSettings(dev, ['port', 'host'])
    .addOption(new Option('--data-dir <path>', 'keep the data here; without it, they are gone when it ends'))
    .addOption(new Option(`--log-level <level>`, `${plain(SETTINGS.logLevel.about)} [default error]`))
    .action(async () => {
      // Loaded only here, as for `serve`.
      const { runDev } = await import('#src/app/dev/dev.ts');
      await runDev(givenTo(dev, dependencies.env), (colour, text) =>
        paint(text, colour, dependencies.screen),
      );
    });
}

function plain(about: string): string {
  return about.replaceAll('`', '');
}
