import type { Command } from 'commander';
import { CONTROL_SETTINGS, readControlSettings } from '#src/app/config.ts';
import { migrateStore } from '#src/app/migrate-store.ts';
import { nameOfStore } from '#src/app/open-store.ts';
import { addAction, addSettings, type CliDependencies } from '#src/cli/command.ts';

export function migrateCommand(program: Command, dependencies: CliDependencies): void {
  const migrate = program
    .command('migrate')
    .description('make the database, or bring it up to date')
    .option('--distribute', 'spread the tables over the workers of a Citus cluster');
  addAction(addSettings(migrate, CONTROL_SETTINGS), dependencies, async (given) => {
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
