import type { Command } from 'commander';
import { readControlSettings } from '#src/app/config.ts';
import type { CliDependencies } from '#src/cli/command.ts';
import { addAction } from './service-options.ts';

export function migrateCommand(migrate: Command, dependencies: CliDependencies): void {
  migrate.option('--distribute', 'distribute the tables over the workers of a Citus cluster');
  addAction(migrate, dependencies, async (given) => {
    const settings = readControlSettings(given);
    const shouldDistribute = migrate.getOptionValue('distribute') === true;
    const [{ migrateStore }, { nameOfStore }] = await Promise.all([
      import('#src/app/migrate-store.ts'),
      import('#src/app/open-store.ts'),
    ]);
    const version = await migrateStore(settings, shouldDistribute);
    const store = nameOfStore(settings);
    return {
      json: { store, schema_version: version },
      text: `The database in ${store} is up to date (schema version ${version}).`,
    };
  });
}
