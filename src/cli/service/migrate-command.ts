import type { Command } from 'commander';
import { CONTROL_SETTINGS, readControlSettings } from '#src/app/config.ts';
import { migrateStore } from '#src/app/migrate-store.ts';
import { nameOfStore } from '#src/app/open-store.ts';
import { addAction, addSettings, type CliDependencies } from '#src/cli/command.ts';

export function migrateCommand(program: Command, dependencies: CliDependencies): void {
  const migrate = program
    .command('migrate')
    .description('Create the database, or update its schema')
    .option('--distribute', 'distribute the tables over the workers of a Citus cluster');
  addAction(addSettings(migrate, CONTROL_SETTINGS), dependencies, async (given) => {
    const settings = readControlSettings(given);
    const shouldDistribute = migrate.getOptionValue('distribute') === true;
    const version = await migrateStore(settings, shouldDistribute);
    const store = nameOfStore(settings);
    return {
      json: { store, schema_version: version },
      text: `The database in ${store} is up to date (schema version ${version}).`,
    };
  });
}
