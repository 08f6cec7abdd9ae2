/** `sched serve` and `sched dev`: both run the service in this process. */
import { type Command, Option } from 'commander';
import { readSettings } from '#src/app/config.ts';
import { SETTINGS } from '#src/app/settings.ts';
import type { CliDependencies } from '#src/cli/command.ts';
import { paint } from '#src/cli/terminal/screen.ts';
import { addSettings, readGiven } from './service-options.ts';

const DEV_AFTER_HELP = `
The keys are fixed and publicly known, so the service listens on this machine
only. SCHED_EGRESS_ALLOW and SCHED_EGRESS_CA_FILE add to the destinations it
allows. Of the other SCHED_ settings, only those above have an effect.`;

export function serveCommand(serve: Command, dependencies: CliDependencies): void {
  addSettings(serve, Object.keys(SETTINGS).filter(isSetting)).action(async () => {
    await dependencies.serve(readSettings(readGiven(serve, dependencies.env)));
  });
}

function isSetting(name: string): name is keyof typeof SETTINGS {
  return name in SETTINGS;
}

export function devCommand(dev: Command, dependencies: CliDependencies): void {
  dev.addHelpText('after', DEV_AFTER_HELP);
  addSettings(dev, ['port', 'host'])
    .addOption(
      new Option('--data-dir <path>', 'keep the data in this directory; by default it is deleted at the end'),
    )
    .addOption(
      new Option('--log-level <level>', `${withoutBackticks(SETTINGS.logLevel.about)} [default error]`),
    )
    .action(async () => {
      // The server is most of the code. Loading it here keeps the help fast.
      const { runDev } = await import('#src/app/dev/dev.ts');
      await runDev(readGiven(dev, dependencies.env), (colour, text) =>
        paint(text, colour, dependencies.screen),
      );
    });
}

function withoutBackticks(about: string): string {
  return about.replaceAll('`', '');
}
