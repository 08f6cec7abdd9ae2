import { Command } from 'commander';
import { CONTROL_SETTINGS, readControlSettings, readSettings } from '#src/app/config.ts';
import { migrateStore } from '#src/app/migrate-store.ts';
import { nameOfStore } from '#src/app/open-store.ts';
import { packageVersion } from '#src/app/package-version.ts';
import { SETTINGS } from '#src/app/settings.ts';
import { addSettings, answering, type CliWorld, givenTo } from './command.ts';
import { keyCommands } from './key-commands.ts';
import { moveCommand } from './move-command.ts';
import { projectCommands } from './project-commands.ts';
import { secretCommands } from './secret-commands.ts';

const AFTER_HELP = `
Settings are flags of each command or come from the environment: --data-dir or SCHED_DATA_DIR.
Exit codes: 0 done, 1 it could not be done, 2 wrong usage or settings.`;

export function buildProgram(world: CliWorld): Command {
  const program = new Command('sched')
    .description('Scheduled HTTP requests, on time and never lost.')
    .version(packageVersion(), '-v, --version')
    .addHelpText('after', AFTER_HELP);
  serveCommand(program, world);
  migrateCommand(program, world);
  moveCommand(program, world);
  projectCommands(program, world);
  keyCommands(program, world);
  secretCommands(program, world);
  return program;
}

function serveCommand(program: Command, world: CliWorld): void {
  const serve = program.command('serve').description('run the service');
  addSettings(serve, Object.keys(SETTINGS).filter(isSetting)).action(async () => {
    const settings = readSettings(givenTo(serve, world.env));
    // Loaded only here: the server is most of the code, and no other command needs it.
    const { runService } = await import('#src/app/run-service.ts');
    await runService(settings);
  });
}

function isSetting(name: string): name is keyof typeof SETTINGS {
  return name in SETTINGS;
}

function migrateCommand(program: Command, world: CliWorld): void {
  const migrate = program
    .command('migrate')
    .description('make the database, or bring it up to date')
    .option('--distribute', 'spread the tables over the workers of a Citus cluster');
  answering(addSettings(migrate, CONTROL_SETTINGS), world, async (given) => {
    const settings = readControlSettings(given);
    const isToDistribute = migrate.getOptionValue('distribute') === true;
    const version = await migrateStore(settings, isToDistribute);
    const store = nameOfStore(settings);
    return {
      json: { store, schema_version: version },
      text: `The database in ${store} is up to date (schema version ${version}).`,
    };
  });
}
