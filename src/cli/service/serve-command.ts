import type { Command } from 'commander';
import { readSettings } from '#src/app/config.ts';
import { SETTINGS } from '#src/app/settings.ts';
import { addSettings, type CliDependencies, givenTo } from '#src/cli/command.ts';

export function serveCommand(program: Command, dependencies: CliDependencies): void {
  const serve = program.command('serve').description('run the service');
  addSettings(serve, Object.keys(SETTINGS).filter(isSetting)).action(async () => {
    const settings = readSettings(givenTo(serve, dependencies.env));
    // Loaded only here: the server is most of the code, and a setting that cannot be is told without it.
    const { runService } = await import('#src/app/run-service.ts');
    await runService(settings);
  });
}

function isSetting(name: string): name is keyof typeof SETTINGS {
  return name in SETTINGS;
}
